// Cuts Swift source into tokens. Comments and strings are skipped as wholes, so that their contents are never taken for
// code. The lexer knows no grammar. It accepts any bytes, in linear time and without recursion.

/// Reads the tokens of a source, one after the other.
struct SwiftLexer {
    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// All tokens of a source; the last is always `.end`.
    static func tokens(of bytes: [UInt8]) -> [SwiftToken] {
        var lexer = SwiftLexer(bytes)
        var tokens: [SwiftToken] = []
        repeat { tokens.append(lexer.next()) } while tokens[tokens.count - 1].kind != .end
        return tokens
    }

    /// Whether a byte may stand in a word. Bytes above ASCII may, since names can be in any script.
    static func continuesWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default:
            false
        }
    }

    private mutating func next() -> SwiftToken {
        let (startsLine, documentation) = skipTrivia()
        let start = position
        let kind = skipToken()
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        return SwiftToken(
            kind: kind, text: text, range: start..<position, startsLine: startsLine, documentation: documentation)
    }

    /// The next byte; 0 at the end.
    private func byte() -> UInt8 { isAtEnd ? 0 : bytes[position] }

    private func isAt(_ text: String, ahead: Int = 0) -> Bool {
        bytes.dropFirst(position + ahead).starts(with: text.utf8)
    }

    private var isAtEnd: Bool { position >= bytes.count }
}

// Blanks and comments.
extension SwiftLexer {
    /// Skips to the next token. It starts a line after a line break and at the beginning of the source. A documentation
    /// comment that begins on the line of the token before belongs to that token and is dropped.
    private mutating func skipTrivia() -> (startsLine: Bool, documentation: [String]) {
        var startsLine = position == 0
        var documentation: [String] = []
        while !isAtEnd {
            let start = position
            switch byte() {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                startsLine = true
                position += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), 0x0B, 0x0C, 0x00:
                position += 1
            case 0xEF where isAt("\u{FEFF}"):
                position += 3
            case UInt8(ascii: "/") where isAt("//"):
                skip { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
                if startsLine { documentation += Self.documentation(in: bytes[start..<position]) }
            case UInt8(ascii: "/") where isAt("/*"):
                skipBlockComment()
                if startsLine { documentation += Self.documentation(in: bytes[start..<position]) }
            default:
                return (startsLine, documentation)
            }
        }
        return (startsLine, documentation)
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if isAt("/*") {
                depth += 1
                position += 2
            } else if isAt("*/") {
                depth -= 1
                position += 2
            } else {
                position += 1
            }
        } while depth > 0 && !isAtEnd
    }

    /// The lines of a comment without their indentation, or none if it is no documentation.
    private static func documentation(in comment: ArraySlice<UInt8>) -> [String] {
        func begins(_ text: String) -> Bool { comment.starts(with: text.utf8) }
        let isDocumentation = begins("///") && !begins("////") || begins("/**") && !begins("/**/") && !begins("/***")
        guard isDocumentation else { return [] }
        return comment.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            let text = line.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            let margin = text.first == UInt8(ascii: "*") ? " " : ""
            return margin + String(decoding: text.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        }
    }
}

// Tokens.
extension SwiftLexer {
    private mutating func skipToken() -> SwiftToken.Kind {
        guard !isAtEnd else { return .end }
        switch byte() {
        case UInt8(ascii: "`"):
            return skipEscapedWord()
        case UInt8(ascii: "\""):
            return skipString() ? .string : .unknown
        case UInt8(ascii: "#"):
            return skipDirectiveOrRawString()
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            skip(while: Self.continuesWord)
            return .number
        case let byte where Self.continuesWord(byte):
            skip(while: Self.continuesWord)
            return .word
        case 0x21...0x7E:
            position += isAt("->") ? 2 : isAt("...") ? 3 : 1
            return .sign
        default:
            position += 1
            return .unknown
        }
    }

    private mutating func skip(while belongs: (UInt8) -> Bool) {
        position += bytes.dropFirst(position).prefix(while: belongs).count
    }

    private mutating func skipEscapedWord() -> SwiftToken.Kind {
        let start = position
        position += 1
        skip { $0 != UInt8(ascii: "`") && $0 != UInt8(ascii: "\n") }
        guard byte() == UInt8(ascii: "`"), position > start + 1 else { return .unknown }
        position += 1
        return .escapedWord
    }

    private mutating func skipDirectiveOrRawString() -> SwiftToken.Kind {
        let hashes = countOfHashes()
        if isAt("\"", ahead: hashes) { return skipString() ? .string : .unknown }
        position += hashes
        guard Self.continuesWord(byte()) else { return .unknown }
        skip(while: Self.continuesWord)
        return .directive
    }

    private func countOfHashes() -> Int { bytes.dropFirst(position).prefix { $0 == UInt8(ascii: "#") }.count }
}

// String literals.
extension SwiftLexer {
    /// Skips a string literal of any kind; false when it is not closed. A string holds code in its interpolations, and that
    /// code holds strings. A stack has what ends each of them: quotes with hashes for text, `)` for code.
    private mutating func skipString() -> Bool {
        var ends = [openString()]
        while let end = ends.last {
            if isAtEnd { return false }
            if isAt(end) {
                position += end.utf8.count
                ends.removeLast()
            } else if end == ")" {
                skipCode(&ends)
            } else if byte() == UInt8(ascii: "\\") {
                skipEscape(&ends, hashes: String(end.drop { $0 == "\"" }))
            } else if byte() == UInt8(ascii: "\n"), !end.hasPrefix("\"\"\"") {
                return false
            } else {
                position += 1
            }
        }
        return true
    }

    /// Skips the beginning of a string and returns what ends it.
    private mutating func openString() -> String {
        let hashes = countOfHashes()
        let quotes = isAt("\"\"\"", ahead: hashes) ? "\"\"\"" : "\""
        position += hashes + quotes.utf8.count
        return quotes + String(repeating: "#", count: hashes)
    }

    /// Skips a backslash and, if as many hashes follow it, the character that it escapes. `(` opens an interpolation.
    private mutating func skipEscape(_ ends: inout [String], hashes: String) {
        position += 1
        guard isAt(hashes) else { return }
        position += hashes.utf8.count
        if isAt("(") { ends.append(")") }
        position = min(position + 1, bytes.count)
    }

    private mutating func skipCode(_ ends: inout [String]) {
        let hashes = countOfHashes()
        if isAt("\"", ahead: hashes) {
            ends.append(openString())
        } else if isAt("/*") {
            skipBlockComment()
        } else {
            if isAt("(") { ends.append(")") }
            position += max(hashes, 1)
        }
    }
}
