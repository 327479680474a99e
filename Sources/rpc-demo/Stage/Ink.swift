// Prints to standard output in colours, and turns values, errors and times into words.

import RPCSockets
import RemoteProxy

/// Prints lines, with colours if a terminal shows them and the user has not refused them (no-color.org).
struct Ink: Sendable {
    enum Style: Int { case plain, bold, dim, green = 32, cyan = 36 }

    private let output = StandardStream.output
    private let hasColour =
        StandardStream.output.isTerminal && (ProcessEnvironment["NO_COLOR"] ?? "").isEmpty
        && ProcessEnvironment["TERM"] != "dumb"

    func write(_ text: String, _ style: Style = .plain, note: String? = nil) {
        output.write(line: paint(text, style) + (note.map { "   " + paint($0, .dim) } ?? ""))
    }

    private func paint(_ text: String, _ style: Style) -> String {
        hasColour && style != .plain ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }
}

/// A value as it would stand in source code, near enough; an error with its type.
func spoken(_ value: Any) -> String {
    switch value {
    case is Void: "done"
    case let text as String: text.debugDescription
    case let error as RPCError: "RPCError: \(error)"
    case is CancellationError: "CancellationError"
    case let difference as Difference: "\(difference)"
    case let error as any Error: "\(type(of: error)).\(error)"
    default: "\(value)"
    }
}

extension Duration {
    /// The duration with its significant digits: `0.21 ms`, `1.2 s`.
    var text: String {
        let microseconds = Int(self / .microseconds(1))
        if microseconds >= 1_000_000 { return "\(microseconds / 1_000_000).\(microseconds / 100_000 % 10) s" }
        return "\(microseconds / 1_000).\(microseconds / 100 % 10)\(microseconds / 10 % 10) ms"
    }
}

/// A result that is not the expected one, or a server that cannot be called.
struct Difference: Error, CustomStringConvertible {
    let description: String

    init(_ text: String) { description = text }
}

/// Whether an error is this very one, of this very type.
func typed<Failure: Error & Equatable>(_ failure: Failure) -> (any Error) -> Bool { { $0 as? Failure == failure } }

/// Whether an error is an `RPCError` with this code and outcome. Pass nil as the outcome if either end may notice the failure
/// first, since the ends know different things.
func rpc(_ code: RPCError.Code, _ outcome: RPCError.Outcome?) -> (any Error) -> Bool {
    { error in
        guard let error = error as? RPCError else { return false }
        return error.code == code && error.outcome == outcome ?? error.outcome
    }
}
