// Builds generated Swift source from templates that look like their result.

/// Lines of source, written as one string with interpolations.
///
/// A line break in the template begins a line. One in an interpolated string does not: it may be inside a string of the
/// user's source, which must not be indented. An interpolated block of lines is indented as the place where it stands. A
/// line that holds only a block without lines vanishes, and with it an empty line before it.
struct SourceText: ExpressibleByStringInterpolation, Equatable {
    let lines: [String]

    init(_ lines: [String]) { self.lines = lines }

    init(stringLiteral text: String) { lines = [text] }

    init(stringInterpolation: StringInterpolation) { lines = stringInterpolation.lines }

    /// The lines, each with a line break at its end.
    var text: String { lines.joined(separator: "\n") + "\n" }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate private(set) var lines = [""]

        init(literalCapacity: Int, interpolationCount: Int) {}

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

        mutating func appendInterpolation(_ block: SourceText) { appendInterpolation(block.lines) }

        /// Blocks with an empty line between them.
        mutating func appendInterpolation(paragraphs: [SourceText]) {
            appendInterpolation(Array(paragraphs.map(\.lines).joined(separator: [""])))
        }
    }
}
