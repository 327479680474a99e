// Source text in, tokens out. Comments and strings are skipped as wholes, so that nothing inside them can be taken for
// Swift. Knows no grammar; takes any bytes, in linear time, without recursion.

/// Cuts Swift source into tokens.
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

    /// Whether a byte may stand in a word. Bytes above ASCII count, since names may be in any script.
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
        let triviaStart = position
        let startsLine = skipTrivia()
        let start = position
        let kind = skipToken()
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        return SwiftToken(
            kind: kind, text: text, range: start..<position, triviaStart: triviaStart, startsLine: startsLine)
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

    /// Skips blanks and comments; true when there was a line break or the source begins here.
    private mutating func skipTrivia() -> Bool {
        var startsLine = position == 0
        while !isAtEnd {
            switch byte() {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                startsLine = true
                position += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), 0x0B, 0x0C, 0x00:
                position += 1
            case UInt8(ascii: "/") where isAt("//"):
                while !isAtEnd, byte() != UInt8(ascii: "\n"), byte() != UInt8(ascii: "\r") { position += 1 }
            case UInt8(ascii: "/") where isAt("/*"):
                skipBlockComment()
            case 0xEF where isAt("\u{FEFF}"):
                position += 3
            default:
                return startsLine
            }
        }
        return startsLine
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

extension SwiftLexer {
    /// A string holds code in its interpolations, which holds strings: kept on a stack of our own.
    private enum Nesting {
        case text(hashes: Int, isMultiline: Bool)
        case code(parentheses: Int)
    }

    /// Skips a string literal of any kind; false when it is not closed.
    private mutating func skipString() -> Bool {
        var stack = [openString()]
        while let top = stack.popLast() {
            guard !isAtEnd else { return false }
            switch top {
            case .text(let hashes, let isMultiline):
                if closeString(hashes, isMultiline) { continue }
                if !isMultiline, byte() == UInt8(ascii: "\n") { return false }
                stack.append(top)
                if let code = skipCharacter(hashes) { stack.append(code) }
            case .code(let parentheses):
                stack += skipCode(parentheses)
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

    /// Skips a character or an escape; an interpolation opens code.
    private mutating func skipCharacter(_ hashes: Int) -> Nesting? {
        guard byte() == UInt8(ascii: "\\"), countOfHashes(ahead: 1) >= hashes else {
            position += 1
            return nil
        }
        let isCode = byte(1 + hashes) == UInt8(ascii: "(")
        position = min(position + 2 + hashes, bytes.count)
        return isCode ? .code(parentheses: 1) : nil
    }

    private mutating func skipCode(_ parentheses: Int) -> [Nesting] {
        switch byte() {
        case UInt8(ascii: "("):
            position += 1
            return [.code(parentheses: parentheses + 1)]
        case UInt8(ascii: ")"):
            position += 1
            return parentheses > 1 ? [.code(parentheses: parentheses - 1)] : []
        case UInt8(ascii: "\""):
            return [.code(parentheses: parentheses), openString()]
        case UInt8(ascii: "#"):
            let hashes = countOfHashes()
            if isAt("\"", ahead: hashes) { return [.code(parentheses: parentheses), openString()] }
            position += hashes
        case UInt8(ascii: "/") where isAt("/*"):
            skipBlockComment()
        default:
            position += 1
        }
        return [.code(parentheses: parentheses)]
    }
}
