// The text of `--help`, written from the table of options. It fits on one screen.

enum CommandHelp {
    private static let width = 100

    static func text(for program: String, _ own: [CommandOption] = []) -> String {
        let indent = ((own + CommandOption.all).map { head(of: $0).count }.max() ?? 0) + 4
        let ownGroup = own.isEmpty ? [] : [(title: "Of this program", options: own)]
        let groups = (ownGroup + CommandOption.groups).map { title, options in
            "\(title):\n" + options.map { lines(of: $0, indent) }.joined(separator: "\n")
        }
        return """
            usage: \(program) [--listen URL]... [options]
                   \(program) attach URL

            Serves JSON-RPC 2.0 and prints 'listening on URL' for each address. SIGTERM or SIGINT ends it when running
            calls have finished; a second one ends it at once. SIGHUP reads the files of --tokens and --tls-* again.
            Logs to standard error. Exits with 0, with 64 when the command line is wrong, and with 1 when it cannot
            listen.
            Sockets that systemd hands over (LISTEN_FDS) take the place of the default address.
            With 'attach' it only joins its standard input and output to the server that listens at URL, tcp:// or
            unix://.

            \(groups.joined(separator: "\n\n"))
            """
    }

    private static func head(of option: CommandOption) -> String {
        option.argument.map { "\(option.name) \($0)" } ?? option.name
    }

    private static func lines(of option: CommandOption, _ indent: Int) -> String {
        let head = head(of: option)
        return wrap(option.help, to: width - indent).enumerated().map { index, line in
            let left = index == 0 ? "  \(head)" : ""
            return left + String(repeating: " ", count: indent - left.count) + line
        }.joined(separator: "\n")
    }

    private static func wrap(_ text: String, to width: Int) -> [String] {
        text.split(separator: " ").reduce(into: []) { lines, word in
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
    }
}
