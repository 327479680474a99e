// The command line of the demo: which acts to play, and which server to call.

import RPCSockets
import RemoteProxy

/// The user's choices.
struct DemoOptions {
    /// The running server to call; nil to use one that the tour starts itself.
    private(set) var endpoint: Endpoint?
    /// The text to print instead of playing.
    private(set) var answer: String?
    /// The acts to play, each with the number that announces it.
    private(set) var acts: [(act: Act, label: String)] = []

    init(_ arguments: some Sequence<String>) throws(SetupError) {
        var numbers = Array(1...Tour.firstActs)
        var count = numbers.count
        var rest = Array(arguments)[...]
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let option = parts[0]
            func value(_ name: String) throws(SetupError) -> String {
                if let value = parts.count == 2 ? parts[1] : rest.popFirst(), !value.isEmpty { return value }
                throw SetupError("\(option) needs a value: \(option) \(name)")
            }
            if ["--all", "--list", "--help", "-h"].contains(option), parts.count == 2 {
                throw SetupError("\(option) takes no value")
            }
            switch option {
            case "--connect":
                endpoint = try Self.endpoint(value("URL"))
            case "--act":
                numbers = [try Self.number(value("NUMBER"))]
                count = Tour.acts.count
            case "--all":
                numbers = Array(1...Tour.acts.count)
                count = numbers.count
            case "--list": answer = Tour.list
            case "--help", "-h": answer = Self.help
            case _ where word.hasPrefix("-"): throw SetupError("there is no option '\(option)'")
            default: throw SetupError("'\(word)' is not an option")
            }
        }
        acts = numbers.map { (Tour.acts[$0 - 1], "\($0)/\(count)") }
    }

    private static func number(_ text: String) throws(SetupError) -> Int {
        if let number = Int(text), Tour.acts.indices.contains(number - 1) { return number }
        throw SetupError("there is no act '\(text)', only 1 to \(Tour.acts.count)")
    }

    private static func endpoint(_ text: String) throws(SetupError) -> Endpoint {
        do { return try Endpoint(text) } catch { throw SetupError(error.message) }
    }

    private static let help = """
        usage: rpc-demo [--all | --act NUMBER] [--connect URL]

        A tour of remote calls, about three seconds long. Each act says what it does, shows the line of code, and shows
        the result. If the result is not the expected one, the tour stops there and exits with 1.

          --all          play all \(Tour.acts.count) acts instead of the first \(Tour.firstActs)
          --act NUMBER   play only this act
          --list         print the numbers and titles of the acts and exit
          --connect URL  call a running rpc-server, for instance tcp://127.0.0.1:7070 or unix:///run/app.sock,
                         instead of a server that the tour brings along
          -h, --help     print this and exit

        Colours appear on a terminal only, and not if NO_COLOR is set. Exits with 64 when the command line is wrong,
        1 when the server cannot be reached.
        """
}
