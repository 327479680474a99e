// Reads the attributes that matter to a proxy.

/// `@Service(name: "Ledger", errors: Login.Failure.self)`. The compiler has checked the types of the arguments.
struct ServiceAttribute {
    /// The service's name on the wire; nil when the attribute gives none.
    private(set) var name: String?
    /// The expression after `name:` if it is not a literal with a valid name.
    private(set) var refusedName: String?
    /// The arguments of `errors:`. Each has the expression as spelled, and the type without `.self` and back-ticks. The type is
    /// the error's name on the wire.
    private(set) var errors: [(expression: String, type: String)] = []

    init(_ source: String) {
        var cursor = TokenCursor(source)
        cursor.skip(to: "(")
        guard cursor.take("(") else { return }
        if cursor.take("name"), cursor.take(":") {
            readName(cursor.expression())
            _ = cursor.take(",")
        }
        guard cursor.take("errors"), cursor.take(":") else { return }
        while !cursor.isAtEnd, !cursor.isAt(")") {
            let expression = cursor.expression()
            let type = expression.hasSuffix(".self") ? String(expression.dropLast(5)) : expression
            errors.append((expression, type.filter { $0 != "`" }))
            _ = cursor.take(",")
        }
    }

    private mutating func readName(_ expression: String) {
        let name = String(expression.dropFirst().dropLast())
        if expression == SwiftName.literal(name), Self.isServiceName(name) {
            self.name = name
        } else {
            refusedName = expression
        }
    }

    /// Whether every part between dots is an identifier. This excludes the signs that name objects, references and the
    /// library's own methods: `[`, `]`, `$`, `~`, `#`, `@`. It also excludes `rpc` as the first part.
    private static func isServiceName(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.first != "rpc" && parts.allSatisfy { SwiftName.isWord(String($0)) && !$0.contains("$") }
    }
}

/// `@available` on a requirement. It decides when the method table lists the requirement.
struct Availability {
    /// The attribute as spelled.
    let spelling: String
    /// The condition under which the requirement exists, as `#available` takes it; nil when it always does.
    private(set) var condition: String?
    private(set) var isDeprecated = false
    /// Whether it has a condition that a method table cannot express, such as `unavailable`.
    private(set) var isUnsupported = false

    /// Nil if it is another attribute.
    init?(_ attribute: AttributeSyntax) {
        guard attribute.name == "available" else { return nil }
        spelling = attribute.spelling
        var cursor = TokenCursor(attribute.arguments ?? "")
        _ = cursor.take("(")
        let start = cursor.index
        var isShort = true
        while !cursor.isAtEnd, cursor.following.kind != .end {
            switch cursor.advance().text {
            case "deprecated": isDeprecated = true
            case "unavailable", "introduced", "obsoleted", "noasync": isUnsupported = true
            case "swift", "_PackageDescription", ":": isShort = false
            default: break
            }
        }
        if isShort, !isDeprecated, !isUnsupported { condition = cursor.spelling(since: start) }
    }
}
