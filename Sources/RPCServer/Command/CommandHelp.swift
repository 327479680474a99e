// The text of `--help`, made from the table of options.

enum CommandHelp {
    private static let width = 100

    static func text(for program: String) -> String {
        let heads = CommandOption.all.map { option in
            option.argument.map { "\(option.name) \($0)" } ?? option.name
        }
        let indent = (heads.map(\.count).max() ?? 0) + 4
        let lines = zip(heads, CommandOption.all).flatMap { head, option in
            wrap(option.help, to: width - indent).enumerated().map { index, line in
                let left = index == 0 ? "  \(head)" : ""
                return left + String(repeating: " ", count: indent - left.count) + line
            }
        }
        return """
            usage: \(program) [--listen URL]... [options]

            Serves JSON-RPC 2.0 until it is told to stop by SIGTERM or SIGINT; then running calls finish and it
            exits with 0. A second signal ends it at once with 1. SIGHUP has it read the file of --tokens again.
            Prints 'listening on URL' for each address on standard output and logs to standard error. Exits with
            64 when the command line is wrong, and with 1 when it cannot listen.

            \(lines.joined(separator: "\n"))
            """
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
