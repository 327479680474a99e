// Colours, or none.

import RPCSockets
import RPCWire

struct Ink: Sendable {
    let hasColour: Bool

    /// Colours for a person at a terminal who has not said that they want none (no-color.org).
    static var standard: Ink {
        let isUnwanted = ProcessEnvironment["NO_COLOR"].map { !$0.isEmpty } ?? false
        return Ink(
            hasColour: StandardStream.output.isTerminal && !isUnwanted && ProcessEnvironment["TERM"] != "dumb")
    }

    func bold(_ text: String) -> String { paint(text, 1) }
    func dim(_ text: String) -> String { paint(text, 2) }
    func green(_ text: String) -> String { paint(text, 32) }
    func cyan(_ text: String) -> String { paint(text, 36) }

    private func paint(_ text: String, _ code: Int) -> String {
        hasColour ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
