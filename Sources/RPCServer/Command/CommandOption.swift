// One option of the command line: how it is written, what the help says of it, what it does to the settings.

import RPCSockets
import RPCWire

struct CommandOption: Sendable {
    typealias Apply = @Sendable (_ value: String, _ settings: inout CommandSettings) throws(CommandFault) -> Void

    let name: String
    /// What stands after the name, in the help's capitals; nil for a switch.
    let argument: String?
    let help: String
    let apply: Apply

    static func `switch`(
        _ name: String, _ help: String, _ apply: @escaping @Sendable (inout CommandSettings) -> Void
    ) -> Self {
        Self(name: name, argument: nil, help: help) { (_, settings) throws(CommandFault) in apply(&settings) }
    }

    /// A whole number, straight into a member of the configuration.
    static func number(
        _ name: String, _ argument: String, least: Int = 1, most: Int = .max,
        _ member: any WritableKeyPath<RPCServer.Configuration, Int> & Sendable, _ help: String
    ) -> Self {
        let usual = RPCServer.Configuration()[keyPath: member]
        return Self(name: name, argument: argument, help: "\(help) (default \(usual))") {
            (value, settings) throws(CommandFault) in
            guard let number = Int(value), (least...most).contains(number) else {
                let range = most == .max ? "from \(least) up" : "from \(least) to \(most)"
                throw CommandFault("\(name) takes a whole number \(range), not '\(value)'")
            }
            settings.configuration[keyPath: member] = number
        }
    }

    /// A time in seconds, fractions allowed, straight into a member of the configuration.
    static func seconds(
        _ name: String, _ member: any WritableKeyPath<RPCServer.Configuration, Duration> & Sendable, _ help: String
    ) -> Self {
        let usual = RPCServer.Configuration()[keyPath: member] / .seconds(1)
        let text = usual == usual.rounded() ? "\(Int(usual))" : "\(usual)"
        return Self(name: name, argument: "SECONDS", help: "\(help) (default \(text))") {
            (value, settings) throws(CommandFault) in
            guard let seconds = Double(value), (0...86_400).contains(seconds) else {
                throw CommandFault("\(name) takes seconds from 0 to 86400, not '\(value)'")
            }
            settings.configuration[keyPath: member] = .seconds(seconds)
        }
    }
}

/// What is wrong with the command line, in one line.
struct CommandFault: Error, Hashable {
    let text: String

    init(_ text: String) { self.text = text.onOneLine }
}
