// Stands in for the module `os` of Apple's systems: the part of its interface that the article "On Apple platforms" uses.

package enum OSLogType: String, Sendable { case debug, info, `default`, error, fault }

package enum OSLogPrivacy: Sendable { case auto, `public`, `private` }

/// As the real one does in a log, it shows a text only if the text is public.
package struct OSLogMessage: ExpressibleByStringInterpolation {
    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {}
        package mutating func appendLiteral(_ literal: String) { text += literal }
        package mutating func appendInterpolation(
            _ argument: @autoclosure @escaping () -> String, privacy: OSLogPrivacy = .auto
        ) {
            text += privacy == .public ? argument() : "<private>"
        }
    }

    fileprivate let text: String

    package init(stringLiteral value: String) { text = value }
    package init(stringInterpolation: Interpolation) { text = stringInterpolation.text }
}

package struct Logger: Sendable {
    private let write: @Sendable (String) -> Void

    /// Only here: the real one takes a subsystem and a category, and writes to the log of the system.
    package init(write: @escaping @Sendable (String) -> Void) { self.write = write }

    package func log(_ message: OSLogMessage) { log(level: .default, message) }
    package func log(level: OSLogType, _ message: OSLogMessage) { write("os \(level.rawValue) \(message.text)") }
}
