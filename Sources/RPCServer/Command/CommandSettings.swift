// What a command line asks for, read word by word from the table of options and then checked as a whole.

import RPCSockets
import RPCWire
import RemoteProxy

struct CommandSettings {
    /// None if the server speaks on standard streams.
    var endpoints: [Endpoint] = []
    private(set) var usesStandardStreams = false
    private(set) var configuration: RPCServer.Configuration
    /// The values of the program's own options that were given; empty texts for switches.
    private(set) var own: [String: String] = [:]
    /// What the command line changes of the configuration. It counts more than what the program sets.
    private var changes: [(inout RPCServer.Configuration) -> Void] = []
    /// The file of the tokens, which is read when the rest of the command line is right.
    var tokenFile: String?
    private var secrecy = CommandTLS()
    var isQuiet = false
    var wantsHelp = false
    var wantsVersion = false

    /// Reads the arguments that follow the program's name. `--name VALUE` and `--name=VALUE` are the same; of an option
    /// that comes twice the last counts, save for `--listen`, which adds an address each time.
    /// - Parameters:
    ///   - configuration: what holds where the command line says nothing.
    ///   - inherited: the first addresses, in place of the one that is usual. They listen already.
    ///   - own: the program's own options.
    ///   - configure: changes the configuration, after the command line was read and before it counts.
    /// - Throws: `SetupError` when the command line is wrong, and what `configure` throws.
    init(
        _ arguments: some Sequence<String>, over configuration: RPCServer.Configuration = .init(),
        inherited: [Endpoint] = [], own: [CommandOption] = [],
        configure: (inout RPCServer.Configuration) throws -> Void = { _ in }
    ) throws {
        (self.configuration, endpoints) = (configuration, inherited)
        var rest = Array(arguments)[...]
        let own = try own.checked()
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard word.hasPrefix("-"), let name = parts.first else { throw SetupError("'\(word)' is not an option") }
            let option = try CommandOption.named(name, or: own)
            let value = parts.count == 2 ? parts[1] : nil
            if let argument = option.argument {
                // The name of another option is no value; a value that looks like one stands behind `=`.
                guard let value = value ?? (rest.first?.hasPrefix("--") == true ? nil : rest.popFirst()) else {
                    throw SetupError("\(name) needs a value: \(name) \(argument)")
                }
                try set(option, to: value)
            } else {
                guard value == nil else { throw SetupError("\(name) takes no value") }
                try set(option, to: "")
            }
        }
        if usesStandardStreams, !endpoints.isEmpty { throw SetupError("--stdio and --listen exclude each other") }
        if endpoints.isEmpty, !usesStandardStreams { endpoints = [ServerCommand.defaultEndpoint] }
        guard !wantsHelp, !wantsVersion else { return }
        try configure(&self.configuration)
        for change in changes { change(&self.configuration) }
        self.configuration.tls = try secrecy.settings() ?? self.configuration.tls
        try readTokens()
        // After all options, since `--insecure` may come last.
        for endpoint in endpoints {
            let objection = try place(of: endpoint).objection(to: endpoint)
            if let objection, !self.configuration.allowsOtherMachines { throw SetupError(objection) }
        }
    }

    private func place(of endpoint: Endpoint) throws(SetupError) -> ListeningPlace {
        try ListeningPlace(endpoint, configuration, hasTokens: configuration.tokens != nil)
    }

    private mutating func set(_ option: CommandOption, to value: String) throws(SetupError) {
        switch option.target {
        case .address:
            // Checked here and not when the server listens: a wrong address is a wrong command line.
            let endpoint: Endpoint
            do throws(RPCError) { endpoint = try Endpoint(value) } catch {
                throw SetupError("\(option.name): \(error.message)")
            }
            do throws(SetupError) { _ = try endpoint.destination().socket() } catch {
                throw SetupError("\(option.name): \(error)")
            }
            endpoints.append(endpoint)
        case .standardStreams: usesStandardStreams = true
        case .threads:
            let number = try Self.number(value, for: option, in: 1...1_024)
            changes.append { $0.threads = number }
        case .tokens: tokenFile = value
        case .tls(let member): secrecy[keyPath: member] = value
        case .isInsecure: changes.append { $0.allowsOtherMachines = true }
        case .limit(.count(let member)), .limit(.bytes(let member)):
            let number = try Self.number(value, for: option, in: 1...Int.max)
            changes.append { $0.limits[keyPath: member] = number }
        case .limit(.time(let member)):
            guard let seconds = Double(value), (0...86_400).contains(seconds) else {
                throw SetupError("\(option.name) takes seconds from 0 to 86400, not '\(value)'")
            }
            changes.append { $0.limits[keyPath: member] = .seconds(seconds) }
        case .isQuiet: isQuiet = true
        case .isTraced: changes.append { $0.tracesMessages = true }
        case .wantsHelp: wantsHelp = true
        case .wantsVersion: wantsVersion = true
        case .own: own[option.name] = value
        }
    }

    private static func number(
        _ value: String, for option: CommandOption, in range: ClosedRange<Int>
    ) throws(SetupError) -> Int {
        if let number = Int(value), range.contains(number) { return number }
        let end = range.upperBound == .max ? "up" : "to \(range.upperBound)"
        throw SetupError("\(option.name) takes a whole number from \(range.lowerBound) \(end), not '\(value)'")
    }

    /// The warning about the first address where calls are not safe; nil if there is none.
    var warning: String? {
        for endpoint in endpoints {
            guard let danger = try? place(of: endpoint).danger else { continue }
            return "warning: \(endpoint) can be reached from other machines, and \(danger) (--insecure)"
        }
        return nil
    }

    /// From a file or the environment. Every user of the machine can read a command line.
    private mutating func readTokens() throws(SetupError) {
        do throws(TokenListError) {
            // Taken out of the environment even when there is a file.
            let inherited = try TokenList(takingFromEnvironment: ServerCommand.tokensVariable)
            configuration.tokens =
                try tokenFile.map { path throws(TokenListError) in try TokenList(file: path) } ?? inherited
                ?? configuration.tokens
        } catch {
            throw SetupError(tokenFile == nil ? "\(error)" : "--tokens: \(error)")
        }
    }
}
