// The type of a closure in its parts.

/// A function type, such as `@Sendable (Int) async throws -> String`.
struct ClosureSyntax: Equatable {
    /// The attributes and specifiers in front, such as `@escaping`.
    var attributes: Set<String> = []
    /// The types of its parameters; nil if one of them has a form that no closure may have.
    let parameters: [TypeSyntax]?
    let isAsync: Bool
    let isThrowing: Bool
    /// The type in `throws(…)`.
    let thrownType: String?
    /// Nil for `Void`.
    let result: TypeSyntax?

    init(parameters: String, _ effects: EffectsSyntax, result: TypeSyntax) {
        self.parameters = Self.types(in: parameters)
        (isAsync, isThrowing, thrownType) = (effects.isAsync, effects.isThrowing, effects.thrownType)
        self.result = result.shape == .void ? nil : result
    }

    /// The same with another attribute in front.
    func with(_ attribute: String) -> ClosureSyntax {
        var closure = self
        closure.attributes.insert(attribute)
        return closure
    }

    /// The types in a list of parameters, which may have names.
    private static func types(in list: String) -> [TypeSyntax]? {
        var cursor = TokenCursor(list)
        guard cursor.take("(") else { return nil }
        var types: [TypeSyntax] = []
        while !cursor.isAt(")") {
            while cursor.following.text == ":" || cursor.isAt("_") { cursor.advance() }
            _ = cursor.take(":")
            guard let type = try? cursor.type() else { return nil }
            types.append(type)
            guard cursor.take(",") else { break }
        }
        return cursor.take(")") ? types : nil
    }
}
