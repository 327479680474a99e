// The options that an operator turns, in groups: the table from which they are both read and explained. Everything else is
// set by the program, in `RPCServer.Configuration`.

import RPCSockets
import RPCWire
import RemoteProxy

extension CommandOption {
    static let groups: [(title: String, options: [CommandOption])] = [
        (
            "Addresses",
            [
                CommandOption(
                    name: "--listen", argument: "URL",
                    help: "tcp://HOST:PORT, tcp://[V6]:PORT or unix:///PATH, any number of times; port 0 takes a free "
                        + "one (default \(ServerCommand.defaultURL))",
                    apply: addURL),
                CommandOption(
                    name: "--threads", argument: "N",
                    help: "threads that serve connections (default \(RPCServer.Configuration().threads))"
                ) { (value, settings) throws(CommandFault) in
                    settings.configuration.threads = try wholeNumber(value, for: "--threads", in: 1...1_024)
                },
            ]
        ),
        (
            "Access",
            [
                CommandOption(
                    name: "--tokens", argument: "FILE",
                    help: "who may call: a line 'NAME ROLE,ROLE TOKEN' for each, mode 0600 (default: the text of the "
                        + "variable \(ServerCommand.tokensVariable))",
                    apply: { (value, settings) throws(CommandFault) in settings.tokenFile = value }),
                .switch("--insecure", "listen without tokens where other machines can connect") {
                    $0.configuration.allowsOtherMachines = true
                },
            ] + limits(.maximumConnections, .maximumConnectionsPerAddress)
        ),
        (
            "Limits, above which calls are refused",
            limits(
                .maximumRequestsInFlight, .maximumRequestsInAll, .maximumBytesInFlight, .maximumBytesInAll,
                .maximumWait,
                .maximumFrameSize)
        ),
        (
            "Times",
            limits(.frameTime, .idleTime, .sessionGrace, .grace) + [
                .seconds(
                    "--keepalive-interval", of: \.keepaliveInterval, "of silence before a peer is pinged; 0 for never")
            ]
        ),
        (
            "Output",
            [
                .switch("--quiet", "log nothing but the warning of --insecure") { $0.isQuiet = true },
                .switch("--help", "print this and exit; also -h") { $0.wantsHelp = true },
                .switch("--version", "print the version and exit") { $0.wantsVersion = true },
            ]
        ),
    ]

    static let all = groups.flatMap(\.options)

    static func named(_ name: String) throws(CommandFault) -> CommandOption {
        let name = name == "-h" ? "--help" : name
        if let option = all.first(where: { $0.name == name }) { return option }
        let words = name.drop { $0 == "-" }.split(separator: "-")
        let member =
            words.prefix(1).map(String.init) + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        if Limit(rawValue: member.joined()) != nil {
            throw CommandFault("'\(name)' is no option; a program sets such limits in RPCServer.Configuration")
        }
        let alike = all.map { option in (option.name, zip(option.name, name).prefix { $0 == $1 }.count) }
        guard let (nearest, count) = alike.max(by: { $0.1 < $1.1 }), count > 4 else {
            throw CommandFault("there is no option '\(name)'")
        }
        throw CommandFault("there is no option '\(name)'; the nearest is \(nearest)")
    }

    /// Checked here and not when the server listens: a wrong address is a wrong command line.
    private static let addURL: Apply = { (value, settings) throws(CommandFault) in
        do throws(EndpointError) {
            _ = try Endpoint(value)
        } catch {
            throw CommandFault("--listen: \(error)")
        }
        settings.urls.append(value)
    }
}
