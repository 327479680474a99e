// The source of the attribute in, its arguments out. The compiler has checked their types.

/// The attribute as written: `@Service(name: "Ledger", errors: Login.Failure.self)`.
struct ServiceAttribute {
    /// What the service is called on the wire; nil when the attribute does not say.
    private(set) var name: String?
    /// The expression after `name:` when it is no literal that can be a service's name.
    private(set) var refusedName: String?
    private(set) var errors: [DeclaredError] = []

    /// One argument of `errors:`.
    struct DeclaredError {
        /// As spelled: `Login.Failure.self`.
        var expression: String

        /// The same without `.self` and back-ticks. It names the type on the wire.
        var type: String {
            let type = expression.hasSuffix(".self") ? String(expression.dropLast(5)) : expression
            return type.filter { $0 != "`" }
        }
    }

    init(_ source: String) {
        var cursor = TokenCursor(source)
        while !cursor.isAtEnd, !cursor.isAt("(") { cursor.advance() }
        guard cursor.take("(") else { return }
        if cursor.take("name"), cursor.take(":") {
            readName(Self.argument(from: &cursor))
            _ = cursor.take(",")
        }
        guard cursor.take("errors"), cursor.take(":") else { return }
        while !cursor.isAtEnd, !cursor.isAt(")") {
            errors.append(DeclaredError(expression: Self.argument(from: &cursor)))
            _ = cursor.take(",")
        }
    }

    /// Reads an expression up to the comma or the bracket that ends it. Generic arguments have commas of their own.
    private static func argument(from cursor: inout TokenCursor) -> String {
        let start = cursor.index
        var depth = 0
        while !cursor.isAtEnd, !cursor.isAt(")"), depth > 0 || !cursor.isAt(",") {
            if cursor.isAt("<") { depth += 1 }
            if cursor.isAt(">") { depth -= 1 }
            let isBracket = cursor.isAt("(") || cursor.isAt("[")
            if !isBracket || !cursor.skipBrackets() { cursor.advance() }
        }
        return cursor.spelling(since: start)
    }

    private mutating func readName(_ expression: String) {
        let name = String(expression.dropFirst().dropLast())
        if expression == SwiftName.literal(name), Self.isServiceName(name) {
            self.name = name
        } else {
            refusedName = expression
        }
    }

    /// Whether every part between dots is an identifier. That leaves out what names objects, the protocol's own methods
    /// and references: `[`, `]`, `$`, `~`, `#`, `@`, and `rpc` as the first part.
    private static func isServiceName(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.first != "rpc" && parts.allSatisfy { SwiftName.isWord(String($0)) && !$0.contains("$") }
    }
}
