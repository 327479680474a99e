// Cuts Swift source into tokens. Comments and strings are skipped as wholes, so that nothing inside them is taken for
// Swift. The lexer knows no grammar. It accepts any bytes, in linear time and without recursion.

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

    private func byte(_ ahead: Int = 0) -> UInt8 {
        position + ahead < bytes.count ? bytes[position + ahead] : 0
    }

    private func isAt(_ text: StaticString, ahead: Int = 0) -> Bool {
        let start = position + ahead
        guard start + text.utf8CodeUnitCount <= bytes.count else { return false }
        return text.withUTF8Buffer { wanted in
            wanted.indices.allSatisfy { bytes[start + $0] == wanted[$0] }
        }
    }

    private var isAtEnd: Bool { position >= bytes.count }

    private var isAtLineEnd: Bool { isAtEnd || byte() == UInt8(ascii: "\n") || byte() == UInt8(ascii: "\r") }
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
                while !isAtLineEnd { position += 1 }
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
        let isLine = begins("///") && !begins("////")
        let isBlock = begins("/**") && !begins("/**/") && !begins("/***")
        guard isLine || isBlock else { return [] }
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
            skipWord()
            return .number
        case let byte where Self.continuesWord(byte):
            skipWord()
            return .word
        case 0x21...0x7E:
            position += isAt("->") ? 2 : isAt("...") ? 3 : 1
            return .sign
        default:
            position += 1
            return .unknown
        }
    }

    private mutating func skipWord() {
        while !isAtEnd, Self.continuesWord(byte()) { position += 1 }
    }

    private mutating func skipEscapedWord() -> SwiftToken.Kind {
        let start = position
        position += 1
        while !isAtEnd, byte() != UInt8(ascii: "`"), byte() != UInt8(ascii: "\n") { position += 1 }
        guard byte() == UInt8(ascii: "`"), position > start + 1 else { return .unknown }
        position += 1
        return .escapedWord
    }

    private mutating func skipDirectiveOrRawString() -> SwiftToken.Kind {
        let hashes = countOfHashes()
        if isAt("\"", ahead: hashes) { return skipString() ? .string : .unknown }
        position += hashes
        guard Self.continuesWord(byte()) else { return .unknown }
        skipWord()
        return .directive
    }

    private func countOfHashes(ahead: Int = 0) -> Int {
        var count = 0
        while byte(ahead + count) == UInt8(ascii: "#") { count += 1 }
        return count
    }
}

// String literals.
extension SwiftLexer {
    /// A string holds code in its interpolations, and that code holds strings. The lexer keeps the open ones on a stack.
    private enum Nesting {
        case text(hashes: Int, isMultiline: Bool)
        /// The inside of one pair of parentheses.
        case code
    }

    /// Skips a string literal of any kind; false when it is not closed.
    private mutating func skipString() -> Bool {
        var stack = [openString()]
        while let top = stack.last {
            guard !isAtEnd else { return false }
            switch top {
            case .text(let hashes, let isMultiline):
                if closeString(hashes, isMultiline) {
                    stack.removeLast()
                } else if !isMultiline, byte() == UInt8(ascii: "\n") {
                    return false
                } else if skipCharacter(hashes) {
                    stack.append(.code)
                }
            case .code:
                skipCode(&stack)
            }
        }
        return true
    }

    private mutating func openString() -> Nesting {
        let hashes = countOfHashes()
        let isMultiline = isAt("\"\"\"", ahead: hashes)
        position += hashes + (isMultiline ? 3 : 1)
        return .text(hashes: hashes, isMultiline: isMultiline)
    }

    private mutating func closeString(_ hashes: Int, _ isMultiline: Bool) -> Bool {
        let quotes = isMultiline ? 3 : 1
        guard isMultiline ? isAt("\"\"\"") : isAt("\""), countOfHashes(ahead: quotes) >= hashes else { return false }
        position += quotes + hashes
        return true
    }

    /// Skips a character or an escape; true when that opens an interpolation.
    private mutating func skipCharacter(_ hashes: Int) -> Bool {
        guard byte() == UInt8(ascii: "\\"), countOfHashes(ahead: 1) >= hashes else {
            position += 1
            return false
        }
        let opensCode = byte(1 + hashes) == UInt8(ascii: "(")
        position = min(position + 2 + hashes, bytes.count)
        return opensCode
    }

    private mutating func skipCode(_ stack: inout [Nesting]) {
        let hashes = countOfHashes()
        if isAt("\"", ahead: hashes) {
            stack.append(openString())
        } else if isAt("/*") {
            skipBlockComment()
        } else {
            if isAt("(") { stack.append(.code) }
            if isAt(")") { stack.removeLast() }
            position += max(hashes, 1)
        }
    }
}
