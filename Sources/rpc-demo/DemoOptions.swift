// The command line: arguments in, what is wanted out.

struct DemoOptions {
    /// The running server to tour; nil for one that the demo brings along.
    var url: String?
    var wantsHelp = false

    init(_ arguments: some Sequence<String>) throws(CommandLineFault) {
        var rest = Array(arguments)[...]
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            switch parts[0] {
            case "--connect":
                guard let url = parts.count == 2 ? parts[1] : rest.popFirst(), !url.isEmpty else {
                    throw CommandLineFault("--connect needs a value: --connect URL")
                }
                self.url = url
            case "--help" where parts.count == 1, "-h" where parts.count == 1:
                wantsHelp = true
            case "--help":
                throw CommandLineFault("--help takes no value")
            default:
                throw CommandLineFault(
                    word.hasPrefix("-") ? "there is no option '\(parts[0])'" : "'\(word)' is not an option")
            }
        }
    }

    static let help = """
        usage: rpc-demo [--connect URL]

        A tour of remote calls, a few seconds long. Each act says what it does, shows the line of code, and shows what
        came back; if that is not what should have come back, the tour stops there and exits with 1.

          --connect URL  call a running rpc-server, for instance tcp://127.0.0.1:7070 or unix:///run/app.sock,
                         instead of a server that the tour brings along
          --help         print this and exit

        Colours appear on a terminal only, and not if NO_COLOR is set. Exits with 64 when the command line is wrong,
        1 when the server cannot be reached.
        """
}

/// What is wrong with the command line, in one line.
struct CommandLineFault: Error {
    let text: String

    init(_ text: String) { self.text = text }
}
