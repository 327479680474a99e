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
                .limit(.maximumConnections), .limit(.maximumConnectionsPerAddress),
            ]
        ),
        (
            "Limits, above which calls are refused as busy",
            [
                .limit(.maximumRequestsInFlight), .limit(.maximumRequestsInAll), .limit(.maximumBytesInFlight),
                .limit(.maximumBytesInAll), .limit(.maximumWait), .limit(.maximumFrameSize),
            ]
        ),
        (
            "Times",
            [
                .limit(.frameTime), .limit(.idleTime),
                .seconds(
                    "--keepalive-interval", of: \.keepaliveInterval, "of silence before a peer is pinged; 0 for never"
                ),
                .limit(.sessionGrace), .limit(.grace),
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
            throw CommandFault("'\(name)' is no option; the limits that are not are set in RPCServer.Configuration")
        }
        let nearest = all.map { ($0.name, distance(name, $0.name)) }.min { $0.1 < $1.1 }
        guard let (near, steps) = nearest, steps <= name.count / 3 else {
            throw CommandFault("there is no option '\(name)'")
        }
        throw CommandFault("there is no option '\(name)'; the nearest is \(near)")
    }

    /// How many characters have to be put in, taken out or replaced to make one name of the other.
    private static func distance(_ name: String, _ other: String) -> Int {
        let other = Array(other.utf8)
        var row = Array(0...other.count)
        for (index, character) in name.utf8.prefix(100).enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in other.indices {
                let replaced = diagonal + (other[column] == character ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[other.count]
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
