// One option of the command line: how it is written, what the help says of it, what it does to the settings.

struct CommandOption: Sendable {
    let name: String
    /// What stands after the name, in the help's capitals; nil for a switch.
    let argument: String?
    let help: String
    let apply: @Sendable (_ value: String, _ settings: inout CommandSettings) throws(CommandFault) -> Void

    static func `switch`(_ name: String, _ help: String, _ apply: @escaping @Sendable (inout CommandSettings) -> Void) -> Self {
        Self(name: name, argument: nil, help: help) { (_, settings) throws(CommandFault) in apply(&settings) }
    }

    /// A whole number of at least `least`, straight into a member of the configuration.
    static func number(
        _ name: String, _ argument: String, least: Int = 1,
        _ member: any WritableKeyPath<RPCServer.Configuration, Int> & Sendable, _ help: String
    ) -> Self {
        let usual = RPCServer.Configuration()[keyPath: member]
        return Self(name: name, argument: argument, help: "\(help) (default \(usual))") {
            (value, settings) throws(CommandFault) in
            guard let number = Int(value), number >= least else {
                throw CommandFault("\(name) takes a whole number from \(least) up, not '\(value)'")
            }
            settings.configuration[keyPath: member] = number
        }
    }
}

/// What the command line asks for.
struct CommandSettings {
    var urls: [String] = []
    var configuration = RPCServer.Configuration()
    var isQuiet = false
    var wantsHelp = false
    var wantsVersion = false
}

/// What is wrong with the command line, in one line.
struct CommandFault: Error {
    let text: String

    init(_ text: String) { self.text = text }
}
