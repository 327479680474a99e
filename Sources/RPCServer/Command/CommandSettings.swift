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

    init() {}

    /// Reads the arguments that follow the program's name. `--name VALUE` and `--name=VALUE` are the same; of an option
    /// that comes twice the last counts, save for `--listen`, which adds an address each time.
    init(_ arguments: some Sequence<String>) throws(CommandFault) {
        var rest = Array(arguments)[...]
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard word.hasPrefix("-"), let name = parts.first else { throw CommandFault("'\(word)' is not an option") }
            let option = try CommandOption.named(name)
            let value = parts.count == 2 ? parts[1] : nil
            if let argument = option.argument {
                guard let value = value ?? rest.popFirst() else {
                    throw CommandFault("\(name) needs a value: \(name) \(argument)")
                }
                try option.apply(value, &self)
            } else {
                guard value == nil else { throw CommandFault("\(name) takes no value") }
                try option.apply("", &self)
            }
        }
        if urls.isEmpty { urls = [ServerCommand.defaultURL] }
        guard !wantsHelp, !wantsVersion else { return }
        try readTokens()
        try refuseStrangers()
    }

    /// The first address that other machines can reach; for the refusal and for the warning.
    var openURL: String? {
        urls.first { url in
            guard let endpoint = try? Endpoint(url) else { return false }
            return !endpoint.isLoopback
        }
    }

    /// From a file or the environment. Every user of the machine can read a command line.
    private mutating func readTokens() throws(CommandFault) {
        do throws(TokenListError) {
            // Taken out of the environment even when there is a file.
            let inherited = try TokenList(environment: ServerCommand.tokensVariable)
            configuration.tokens =
                try tokenFile.map { path throws(TokenListError) in try TokenList(file: path) } ?? inherited
        } catch {
            throw CommandFault(tokenFile == nil ? "\(error)" : "--tokens: \(error)")
        }
    }

    /// After all options, since `--insecure` may come last.
    private func refuseStrangers() throws(CommandFault) {
        guard !configuration.allowsOtherMachines, configuration.tokens == nil, let url = openURL else { return }
        throw CommandFault(
            "\(url) can be reached from other machines and nothing keeps strangers out; give it --tokens FILE, or add "
                + "--insecure if you mean it")
    }
}
