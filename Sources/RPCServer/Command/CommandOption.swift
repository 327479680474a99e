// One option of the command line: how it is written, what the help says of it, what it sets.

import RPCSockets
import RPCWire
import RemoteProxy

/// An option, as the command line is read and as the help explains it.
struct CommandOption: Sendable {
    typealias Apply = @Sendable (_ value: String, _ settings: inout CommandSettings) throws(CommandFault) -> Void

    let name: String
    /// What stands after the name, in the help's capitals; nil for a switch.
    let argument: String?
    let help: String
    let apply: Apply

    /// An option without a value.
    static func `switch`(
        _ name: String, _ help: String, _ apply: @escaping @Sendable (inout CommandSettings) -> Void
    ) -> Self {
        Self(name: name, argument: nil, help: help) { (_, settings) throws(CommandFault) in apply(&settings) }
    }

    /// Limits, each with the name, the words and the member that the table of limits has for it.
    static func limits(_ limits: Limit...) -> [Self] { limits.compactMap(LimitDescription.init).map(option) }

    private static func option(of row: LimitDescription) -> Self {
        let name =
            "--" + row.limit.rawValue.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : String($1) }
        let what = row.what + (row.endsAtZero ? "; 0 for ever" : "")
        return switch row.value {
        case .count(let member): number(name, "N", of: member, what)
        case .bytes(let member): number(name, "BYTES", of: member, what)
        case .time(let member): seconds(name, of: member, what)
        }
    }

    private static func number(
        _ name: String, _ argument: String, of member: any WritableKeyPath<Limits, Int> & Sendable, _ help: String
    ) -> Self {
        Self(name: name, argument: argument, help: "\(help) (default \(Limits()[keyPath: member]))") {
            (value, settings) throws(CommandFault) in
            settings.configuration.limits[keyPath: member] = try wholeNumber(value, for: name, in: 1...Int.max)
        }
    }

    /// A time in seconds, fractions allowed.
    static func seconds(
        _ name: String, of member: any WritableKeyPath<Limits, Duration> & Sendable, _ help: String
    ) -> Self {
        let usual = Limits()[keyPath: member] / .seconds(1)
        let text = usual == usual.rounded() ? "\(Int(usual))" : "\(usual)"
        return Self(name: name, argument: "SECONDS", help: "\(help) (default \(text))") {
            (value, settings) throws(CommandFault) in
            guard let seconds = Double(value), (0...86_400).contains(seconds) else {
                throw CommandFault("\(name) takes seconds from 0 to 86400, not '\(value)'")
            }
            settings.configuration.limits[keyPath: member] = .seconds(seconds)
        }
    }

    static func wholeNumber(
        _ value: String, for name: String, in range: ClosedRange<Int>
    ) throws(CommandFault) -> Int {
        guard let number = Int(value), range.contains(number) else {
            let end = range.upperBound == .max ? "up" : "to \(range.upperBound)"
            throw CommandFault("\(name) takes a whole number from \(range.lowerBound) \(end), not '\(value)'")
        }
        return number
    }
}

/// What is wrong with the command line, in one line.
struct CommandFault: Error, Hashable {
    let text: String

    init(_ text: String) { self.text = text.onOneLine }
}
