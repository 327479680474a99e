// The options of a server's command line: the table from which they are both read and explained.

extension CommandOption {
    static let all: [CommandOption] = [
        CommandOption(
            name: "--listen", argument: "URL",
            help:
                "listen on tcp://HOST:PORT, tcp://[V6]:PORT or unix:///PATH; may be repeated; port 0 takes a free one "
                + "(default \(ServerCommand.defaultURL))"
        ) { (value, settings) throws(CommandFault) in settings.urls.append(value) },
        .number("--threads", "N", \.threads, "threads that serve connections"),
        .number("--maximum-connections", "N", \.maximumConnections, "connections at a time; more are closed"),
        .number(
            "--maximum-requests-in-flight", "N", \.maximumRequestsInFlight,
            "calls of one connection that run at a time; more are refused as busy"),
        .number("--maximum-frame-size", "BYTES", \.maximumFrameSize, "the largest message, either way"),
        .number("--maximum-batch", "N", \.maximumBatch, "members of a batch"),
        .number("--maximum-depth", "N", \.maximumDepth, "how deep arrays and objects may be nested"),
        .number(
            "--pause-reading", "BYTES", \.pauseReading,
            "output waiting for a peer above which nothing more is read from it"),
        .number(
            "--maximum-queued-output", "BYTES", \.maximumQueuedOutput,
            "output waiting for a peer above which it is disconnected"),
        CommandOption(
            name: "--grace", argument: "SECONDS",
            help: "time for running calls to finish when the server stops (default 10)"
        ) { (value, settings) throws(CommandFault) in
            guard let seconds = Double(value), (0...86_400).contains(seconds) else {
                throw CommandFault("--grace takes seconds from 0 to 86400, not '\(value)'")
            }
            settings.configuration.grace = .seconds(seconds)
        },
        .switch("--insecure", "allow addresses that other machines can reach, with nothing to keep strangers out") {
            $0.configuration.allowsOtherMachines = true
        },
        .switch("--quiet", "log nothing") { $0.isQuiet = true },
        .switch("--help", "print this and exit") { $0.wantsHelp = true },
        .switch("--version", "print the version and exit") { $0.wantsVersion = true },
    ]

    /// Reads the arguments that follow the program's name. `--name VALUE` and `--name=VALUE` are the same.
    static func read(_ arguments: some Sequence<String>) throws(CommandFault) -> CommandSettings {
        var settings = CommandSettings()
        var rest = Array(arguments)[...]
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let option = all.first(where: { $0.name == parts[0] }) else {
                throw CommandFault(
                    word.hasPrefix("-") ? "there is no option '\(parts[0])'" : "'\(word)' is not an option")
            }
            if let argument = option.argument {
                guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                    throw CommandFault("\(option.name) needs a value: \(option.name) \(argument)")
                }
                try option.apply(value, &settings)
            } else {
                guard parts.count == 1 else { throw CommandFault("\(option.name) takes no value") }
                try option.apply("", &settings)
            }
        }
        return settings
    }

    /// The text of `--help`.
    static func help(for program: String) -> String {
        let heads = all.map { option in option.argument.map { "\(option.name) \($0)" } ?? option.name }
        let width = (heads.map(\.count).max() ?? 0) + 2
        let lines = zip(heads, all).flatMap { head, option in
            wrap(option.help, to: 100 - width - 2).enumerated().map { index, line in
                let left = index == 0 ? head : ""
                return "  \(left)\(String(repeating: " ", count: width - left.count))\(line)"
            }
        }
        return """
            usage: \(program) [--listen URL]... [options]

            Serves JSON-RPC 2.0 until it is told to stop by SIGTERM or SIGINT; then running calls finish and it exits
            with 0. A second signal ends it at once. Prints 'listening on URL' for each address on standard output and
            logs to standard error. Exits with 64 when the command line is wrong, 1 when it cannot listen.

            \(lines.joined(separator: "\n"))
            """
    }

    private static func wrap(_ text: String, to width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
