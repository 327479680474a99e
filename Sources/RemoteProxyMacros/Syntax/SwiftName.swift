// Converts names between their spelling in source and their plain form.

/// The spellings of a name.
enum SwiftName {
    /// The name without back-ticks.
    static func plain(_ spelling: String) -> String {
        spelling.hasPrefix("`") && spelling.hasSuffix("`") && spelling.utf8.count > 2
            ? String(spelling.dropFirst().dropLast()) : spelling
    }

    /// The name with back-ticks, if a declaration or an expression needs them.
    static func spelled(_ name: String) -> String {
        isWord(name) && !keywords.contains(name) && !expressionWords.contains(name) ? name : "`\(name)`"
    }

    /// The name with back-ticks, if a label needs them: most keywords do not.
    static func label(_ name: String) -> String {
        isWord(name) && !["inout", "let", "var"].contains(name) ? name : "`\(name)`"
    }

    /// The name with back-ticks, if a label in the type of a tuple needs them. One that could begin a declaration does.
    static func tupleLabel(_ name: String) -> String {
        isWord(name) && !keywords.contains(name) ? name : "`\(name)`"
    }

    /// Whether it is an identifier that needs no back-ticks, or a keyword.
    static func isWord(_ name: String) -> Bool {
        guard let first = name.utf8.first else { return false }
        return name.utf8.allSatisfy(SwiftLexer.continuesWord)
            && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
    }

    /// The text as a string literal.
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

    /// Words that are never a name without back-ticks.
    static let keywords: Set<String> = [
        "Any", "Protocol", "Self", "Type", "as", "associatedtype", "break", "case", "catch", "class", "continue",
        "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for",
        "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator",
        "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "static",
        "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where",
        "while", "_",
    ]

    /// Words that mean something at the start of an expression.
    private static let expressionWords: Set<String> = [
        "any", "await", "consume", "copy", "discard", "each", "some", "then", "unsafe", "yield",
    ]
}
