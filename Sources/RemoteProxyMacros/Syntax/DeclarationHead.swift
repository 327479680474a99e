// Reads what precedes the keyword of any declaration: documentation, attributes and modifiers.

/// `@name` or `@name(arguments)`.
struct AttributeSyntax {
    var name: String
    /// The arguments with the parentheses.
    var arguments: String?
    var offset: Int

    var spelling: String { "@\(name)\(arguments ?? "")" }

    var isMainActor: Bool { ["MainActor", "Swift.MainActor", "_Concurrency.MainActor"].contains(name) }

    /// Nil if there is no attribute at the cursor, which may have moved all the same.
    init?(from cursor: inout TokenCursor) {
        guard cursor.isAt("@"), cursor.following.isName else { return nil }
        offset = cursor.offset
        cursor.advance()
        var start = cursor.index
        cursor.advance()
        while cursor.isAt("."), cursor.following.isName {
            cursor.advance()
            cursor.advance()
        }
        name = cursor.spelling(since: start)
        guard cursor.isAt("(") else { return }
        start = cursor.index
        guard cursor.skipBrackets() else { return nil }
        arguments = cursor.source(since: start)
    }
}

/// The beginning of a declaration.
struct DeclarationHead {
    /// Documentation comments, line by line, without indentation.
    var documentation: [String] = []
    var attributes: [AttributeSyntax] = []
    /// `private(set)` and the like are one modifier.
    var modifiers: [String] = []

    /// Reads up to the keyword of the declaration.
    init(from cursor: inout TokenCursor) {
        documentation = cursor.current.documentation
        while true {
            if let attribute = AttributeSyntax(from: &cursor) {
                attributes.append(attribute)
            } else if cursor.current.kind == .word, Self.modifierWords.contains(cursor.current.text),
                !Self.endsName(cursor.following)
            {
                modifiers.append(Self.modifier(from: &cursor))
            } else {
                return
            }
            if documentation.isEmpty { documentation = cursor.current.documentation }
        }
    }

    private static func modifier(from cursor: inout TokenCursor) -> String {
        let start = cursor.index
        cursor.advance()
        if cursor.isAt("("), !cursor.skipBrackets() { return cursor.tokens[start].text }
        return cursor.spelling(since: start)
    }

    /// Whether a word before this token is a name and not a modifier.
    private static func endsName(_ token: SwiftToken) -> Bool {
        token.kind == .sign && !["@", "("].contains(token.text) || token.kind == .end
    }

    static let modifierWords: Set<String> = [
        "public", "package", "internal", "fileprivate", "private", "open", "static", "class", "mutating",
        "nonmutating", "nonisolated", "isolated", "optional", "final", "override", "prefix", "postfix", "infix",
        "required", "convenience", "dynamic", "lazy", "weak", "unowned", "indirect", "async", "distributed",
        "borrowing", "consuming", "__consuming",
    ]
}
