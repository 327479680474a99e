// The blanks and comments before a declaration in, its documentation out.

/// Finds `///` and `/** */` among blanks and other comments.
enum DocumentationComments {
    /// - Parameter isFirst: Whether the source begins here; otherwise the rest of the first line belongs to what stands
    ///   before it.
    static func lines(in trivia: ArraySlice<UInt8>, isFirst: Bool) -> [String] {
        var rest = Substring(decoding: trivia, as: UTF8.self)
        if !isFirst { rest = rest.drop { !$0.isNewline } }
        var lines: [String] = []
        while let start = rest.firstIndex(of: "/") {
            rest = rest[start...]
            if rest.hasPrefix("//") {
                let line = rest.prefix { !$0.isNewline }
                if line.hasPrefix("///"), !line.hasPrefix("////") { lines.append(String(line)) }
                rest = rest[line.endIndex...]
            } else {
                let end = endOfBlock(rest)
                if rest.hasPrefix("/**"), !rest.hasPrefix("/**/"), !rest.hasPrefix("/***") {
                    lines += rest[..<end].split(separator: "\n", omittingEmptySubsequences: false).map(unindented)
                }
                rest = rest[end...]
            }
        }
        return lines
    }

    private static func unindented(_ line: Substring) -> String {
        let text = line.drop { $0 == " " || $0 == "\t" }
        return (text.hasPrefix("*") ? " " : "") + text.filter { $0 != "\r" }
    }

    private static func endOfBlock(_ text: Substring) -> Substring.Index {
        var depth = 0
        var rest = text
        repeat {
            if rest.hasPrefix("/*") {
                depth += 1
                rest = rest.dropFirst(2)
            } else if rest.hasPrefix("*/") {
                depth -= 1
                rest = rest.dropFirst(2)
            } else {
                rest = rest.dropFirst()
            }
        } while depth > 0 && !rest.isEmpty
        return rest.startIndex
    }
}
