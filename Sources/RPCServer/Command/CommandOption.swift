// The options that an operator turns, in groups: the table from which they are both read and explained. Everything else is
// for the program: `RPCServer.Configuration`.

import RPCSockets
import RPCWire
import RemoteProxy

/// An option of the command line: how it is written, what the help says of it, what it sets.
struct CommandOption: Sendable {
    /// What an option sets.
    enum Target: Sendable {
        case address, standardStreams, threads, tokens, isInsecure
        case tls(any WritableKeyPath<CommandTLS, String?> & Sendable)
        case limit(LimitDescription.Value)
        case isQuiet, isTraced, wantsHelp, wantsVersion
        /// An option of the program's own.
        case own
    }

    let name: String
    /// What stands after the name, in the help's capitals; nil for a switch.
    let argument: String?
    let target: Target
    let help: String

    init(_ name: String, _ argument: String? = nil, sets target: Target, _ help: String) {
        (self.name, self.argument, self.target, self.help) = (name, argument, target, help)
    }

    /// A limit, with its default.
    private init(_ name: String, limit value: LimitDescription.Value, _ help: String) {
        let (argument, usual) =
            switch value {
            case .count(let member): ("N", "\(Limits()[keyPath: member])")
            case .bytes(let member): ("BYTES", "\(Limits()[keyPath: member])")
            case .time(let member): ("SECONDS", Self.seconds(Limits()[keyPath: member]))
            }
        self.init(name, argument, sets: .limit(value), "\(help) (default \(usual))")
    }

    private static func seconds(_ time: Duration) -> String {
        let seconds = time / .seconds(1)
        return seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
    }

    /// Limits, each with the name, the words and the member that the table of limits has for it.
    private static func limits(_ limits: Limit...) -> [Self] {
        limits.compactMap(LimitDescription.init).map { row in
            let words = row.limit.rawValue.map { $0.isUppercase ? "-\($0.lowercased())" : String($0) }
            return Self("--" + words.joined(), limit: row.value, row.what + (row.endsAtZero ? "; 0 for ever" : ""))
        }
    }

    static let groups: [(title: String, options: [CommandOption])] = [
        (
            "Addresses",
            [
                .init(
                    "--listen", "URL", sets: .address,
                    "tcp://HOST:PORT, tcp://[V6]:PORT, tls://HOST:PORT or unix:///PATH, any number of times; port 0 takes a "
                        + "free one (default \(ServerCommand.defaultEndpoint))"),
                .init(
                    "--stdio", sets: .standardStreams,
                    "serve the program that has started this one, on standard input and output, in place of addresses"),
                .init(
                    "--threads", "N", sets: .threads,
                    "threads that serve connections (default \(RPCServer.Configuration().threads))"),
            ]
        ),
        (
            "Access",
            [
                .init(
                    "--tokens", "FILE", sets: .tokens,
                    "the callers: a line 'NAME ROLE,ROLE TOKEN' for each, mode 0600 (default: the text of the variable "
                        + "\(ServerCommand.tokensVariable))"),
                .init(
                    "--insecure", sets: .isInsecure,
                    "listen without TLS or without tokens where other machines can connect"),
            ] + limits(.maximumConnections, .maximumConnectionsPerAddress)
        ),
        (
            "TLS, on the same ports",
            [
                .init("--tls-certificate", "FILE", sets: .tls(\.certificate), "the certificate and those above it"),
                .init("--tls-key", "FILE", sets: .tls(\.key), "its key"),
                .init(
                    "--tls-self-signed", "FOLDER", sets: .tls(\.folder), "make both there; prints a URL with their pin"),
                .init(
                    "--tls-client-ca", "FILE", sets: .tls(\.authorities),
                    "ask clients for a certificate of these; tokens: 'NAME ROLE,ROLE cert:NAME'"),
                .init(
                    "--tls", "WHEN", sets: .tls(\.plaintext),
                    "required or optional (default: required beyond loopback, and with --tls-client-ca)"),
            ]
        ),
        (
            "Limits, above which calls are refused",
            limits(
                .maximumRequestsInFlight, .maximumRequestsInAll, .maximumBytesInFlight, .maximumBytesInAll,
                .maximumWait, .maximumFrameSize)
        ),
        (
            "Times",
            limits(.idleTime, .sessionGrace, .stopGrace) + [
                .init(
                    "--keepalive-interval", limit: .time(\.keepalive.interval),
                    "of silence before a peer is pinged; 0 for never")
            ]
        ),
        (
            "Output",
            [
                .init("--trace", sets: .isTraced, "log each message too, without tokens, up to 1024 bytes of it"),
                .init("--quiet", sets: .isQuiet, "log nothing but the warning of --insecure"),
                .init("--help", sets: .wantsHelp, "print this and exit; also -h"),
                .init("--version", sets: .wantsVersion, "print the version and exit"),
            ]
        ),
    ]

    static let all = groups.flatMap(\.options)

    static func named(_ name: String, or own: [CommandOption]) throws(SetupError) -> CommandOption {
        let name = name == "-h" ? "--help" : name
        let all = own + all
        if let option = all.first(where: { $0.name == name }) { return option }
        let words = name.drop { $0 == "-" }.split(separator: "-")
        let capitalized = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        if Limit(rawValue: (words.prefix(1).map(String.init) + capitalized).joined()) != nil {
            throw SetupError("'\(name)' is no option; a program sets such limits in RPCServer.Configuration")
        }
        let alike = all.map { option in (option.name, zip(option.name, name).prefix { $0 == $1 }.count) }
        guard let (nearest, count) = alike.max(by: { $0.1 < $1.1 }), count > 4 else {
            throw SetupError("there is no option '\(name)'")
        }
        throw SetupError("there is no option '\(name)'; the nearest is \(nearest)")
    }
}

extension ServerCommand {
    /// An option of the program's own, beside those of every ``ServerCommand``.
    public struct Option: Sendable {
        let option: CommandOption

        /// An option for the command line, where it may stand as `--database FILE` or `--database=FILE`.
        /// - Parameters:
        ///   - name: begins with `--`.
        ///   - argument: what the help calls the value that follows; nil for a switch, which has none.
        ///   - help: what the help says of it.
        public static func option(_ name: String, _ argument: String? = nil, help: String) -> Self {
            Self(option: CommandOption(name, argument, sets: .own, help))
        }
    }
}

extension [CommandOption] {
    /// Checks the options of a program's own, which the program may have got wrong.
    func checked() throws(SetupError) -> Self {
        for (index, option) in enumerated() {
            let name = option.name
            guard name.hasPrefix("--"), name.count > 2, !name.contains(where: { $0 == "=" || $0.isWhitespace }) else {
                throw SetupError(
                    "this program has an option '\(name)'; a name begins with '--' and has no '=' and no blank")
            }
            if (CommandOption.all + prefix(index)).contains(where: { $0.name == name }) {
                throw SetupError(
                    "this program has an option \(name), but there is one of that name already; give it another")
            }
        }
        return self
    }
}
