// What a command line asks for, read word by word from the table of options and then checked as a whole.

import RPCSockets
import RPCWire
import RemoteProxy

struct CommandSettings {
    var urls: [String] = []
    var configuration = RPCServer.Configuration()
    /// The file of the tokens, which is read when the rest of the command line is right.
    var tokenFile: String?
    var isQuiet = false
    var wantsHelp = false
    var wantsVersion = false

    /// Reads the arguments that follow the program's name. `--name VALUE` and `--name=VALUE` are the same; of an option
    /// that comes twice the last counts, save for `--listen`, which adds an address each time.
    init(_ arguments: some Sequence<String>) throws(SetupError) {
        var rest = Array(arguments)[...]
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard word.hasPrefix("-"), let name = parts.first else { throw SetupError("'\(word)' is not an option") }
            let option = try CommandOption.named(name)
            let value = parts.count == 2 ? parts[1] : nil
            if let argument = option.argument {
                guard let value = value ?? rest.popFirst() else {
                    throw SetupError("\(name) needs a value: \(name) \(argument)")
                }
                try set(option, to: value)
            } else {
                guard value == nil else { throw SetupError("\(name) takes no value") }
                try set(option, to: "")
            }
        }
        if urls.isEmpty { urls = [ServerCommand.defaultURL] }
        guard !wantsHelp, !wantsVersion else { return }
        try readTokens()
        // After all options, since `--insecure` may come last.
        guard !configuration.allowsOtherMachines, configuration.tokens == nil, let url = openURL else { return }
        throw SetupError(
            "\(url) can be reached from other machines and nothing keeps strangers out; give it --tokens FILE, or add "
                + "--insecure if you mean it")
    }

    private mutating func set(_ option: CommandOption, to value: String) throws(SetupError) {
        switch option.target {
        case .address:
            // Checked here and not when the server listens: a wrong address is a wrong command line.
            do throws(SetupError) { _ = try Endpoint(value) } catch {
                throw SetupError("\(option.name): \(error)")
            }
            urls.append(value)
        case .threads: configuration.threads = try Self.number(value, for: option, in: 1...1_024)
        case .tokens: tokenFile = value
        case .isInsecure: configuration.allowsOtherMachines = true
        case .limit(.count(let member)), .limit(.bytes(let member)):
            configuration.limits[keyPath: member] = try Self.number(value, for: option, in: 1...Int.max)
        case .limit(.time(let member)):
            guard let seconds = Double(value), (0...86_400).contains(seconds) else {
                throw SetupError("\(option.name) takes seconds from 0 to 86400, not '\(value)'")
            }
            configuration.limits[keyPath: member] = .seconds(seconds)
        case .isQuiet: isQuiet = true
        case .isTraced: configuration.tracesMessages = true
        case .wantsHelp: wantsHelp = true
        case .wantsVersion: wantsVersion = true
        }
    }

    private static func number(
        _ value: String, for option: CommandOption, in range: ClosedRange<Int>
    ) throws(SetupError) -> Int {
        if let number = Int(value), range.contains(number) { return number }
        let end = range.upperBound == .max ? "up" : "to \(range.upperBound)"
        throw SetupError("\(option.name) takes a whole number from \(range.lowerBound) \(end), not '\(value)'")
    }

    /// The first address that other machines can reach; for the refusal and for the warning.
    var openURL: String? {
        urls.first { url in
            guard let endpoint = try? Endpoint(url) else { return false }
            return !endpoint.isLoopback
        }
    }

    /// From a file or the environment. Every user of the machine can read a command line.
    private mutating func readTokens() throws(SetupError) {
        do throws(TokenListError) {
            // Taken out of the environment even when there is a file.
            let inherited = try TokenList(environment: ServerCommand.tokensVariable)
            configuration.tokens =
                try tokenFile.map { path throws(TokenListError) in try TokenList(file: path) } ?? inherited
        } catch {
            throw SetupError(tokenFile == nil ? "\(error)" : "--tokens: \(error)")
        }
    }
}
