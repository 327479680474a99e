// What the lexer hands to the parser.

/// A word, literal or sign of Swift source, with its place.
struct SwiftToken {
    enum Kind {
        /// A name or a keyword; the parser knows by place which.
        case word
        /// A name in back-ticks.
        case escapedWord
        case number
        case string
        /// One sign; only `->` and `...` are more than one character.
        case sign
        /// `#if` and its like.
        case directive
        /// What no Swift source has: an unclosed string, a control character.
        case unknown
        case end
    }

    var kind: Kind
    /// As the source spells it, back-ticks included.
    var text: String
    /// The bytes of the token.
    var range: Range<Int>
    /// Where the blanks and comments before it begin.
    var triviaStart: Int
    /// Whether it is the first on its line.
    var startsLine: Bool

    var isName: Bool { kind == .word || kind == .escapedWord }

    /// The name without its back-ticks.
    var plainName: String { SwiftName.plain(text) }
}

/// How a name is spelled in source and out of it.
enum SwiftName {
    /// Without back-ticks.
    static func plain(_ spelling: String) -> String {
        spelling.hasPrefix("`") && spelling.hasSuffix("`") && spelling.utf8.count > 2
            ? String(spelling.dropFirst().dropLast()) : spelling
    }

    /// With back-ticks where a declaration or an expression needs them.
    static func spelled(_ name: String) -> String {
        isWord(name) && !keywords.contains(name) ? name : "`\(name)`"
    }

    /// With back-ticks where a label needs them: most keywords do not.
    static func label(_ name: String) -> String {
        isWord(name) && !["inout", "let", "var"].contains(name) ? name : "`\(name)`"
    }

    /// Whether it is an identifier that needs no back-ticks, or a keyword.
    static func isWord(_ name: String) -> Bool {
        name.utf8.allSatisfy(SwiftLexer.continuesWord) && !(name.utf8.first.map(isDigit) ?? true)
    }

    /// As a string literal.
    static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" {
                literal += "\\"
                literal.unicodeScalars.append(scalar)
            } else if scalar.value < 0x20 {
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static let keywords: Set<String> = [
        "Any", "Protocol", "Self", "Type", "as", "associatedtype", "break", "case", "catch", "class", "continue",
        "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for",
        "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator",
        "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "static",
        "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where",
        "while", "_",
        // Words that mean something at the start of an expression.
        "any", "await", "consume", "copy", "discard", "each", "some", "then", "unsafe", "yield",
    ]
}
