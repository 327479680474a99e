// Stands in for the package swift-log: the part of its interface that the article "Logs, metrics and traces" uses.

package struct Logger: Sendable {
    package typealias Metadata = [String: MetadataValue]

    package enum Level: String, Sendable { case trace, debug, info, notice, warning, error, critical }

    package enum MetadataValue: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
        case string(String)

        package init(stringLiteral value: String) { self = .string(value) }
        package var description: String {
            switch self {
            case .string(let text): text
            }
        }
    }

    package struct Message: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
        package let description: String
        package init(stringLiteral value: String) { description = value }
    }

    private let write: @Sendable (String) -> Void

    /// Only here: the real one takes a label, and writes where the program says.
    package init(write: @escaping @Sendable (String) -> Void) { self.write = write }

    package func log(
        level: Level, _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil,
        source: @autoclosure () -> String? = nil, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {
        let pairs = (metadata() ?? [:]).map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
        write("\(level.rawValue) \(source() ?? "") \(message()) \(pairs)")
    }
}
