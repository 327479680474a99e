// Generated Swift: templates that look like what they generate.

/// Lines of source, written as one string with interpolations.
///
/// A line break in the template begins a line. One in an interpolated string does not: it may be inside a string of the
/// user's source, which must not be indented. An interpolated array is a block of lines, indented as the place where it
/// stands. A line that holds only a block without lines vanishes, and with it an empty line before it.
struct SourceText: ExpressibleByStringInterpolation {
    let lines: [String]

    init(stringLiteral text: String) { self.init(stringInterpolation: StringInterpolation(text)) }

    init(stringInterpolation: StringInterpolation) { lines = stringInterpolation.lines }

    /// The text, with a line break at its end.
    var source: String { lines.joined(separator: "\n") + "\n" }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate private(set) var lines = [""]

        init(literalCapacity: Int, interpolationCount: Int) {}

        fileprivate init(_ text: String) { appendLiteral(text) }

        mutating func appendLiteral(_ literal: String) {
            let parts = literal.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            if !lines.isEmpty { lines[lines.count - 1] += parts[0] }
            lines += parts.dropFirst()
        }

        /// A part of a line.
        mutating func appendInterpolation(_ text: String) { lines[lines.count - 1] += text }

        /// A block of lines. Only blanks stand before it on its line.
        mutating func appendInterpolation(_ block: [String]) {
            let indentation = lines.removeLast()
            if block.isEmpty, lines.last == "" { lines.removeLast() }
            lines += block.map { $0.isEmpty ? "" : indentation + $0 }
        }

        /// Blocks with an empty line between them; those without lines are left out.
        mutating func appendInterpolation(paragraphs: [[String]]) {
            appendInterpolation(Array(paragraphs.filter { !$0.isEmpty }.joined(separator: [""])))
        }
    }
}
