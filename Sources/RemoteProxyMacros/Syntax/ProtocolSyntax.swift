// A protocol as it is written, before anybody asked whether it can be remote. Made by the parser, judged by the rules.

/// A declaration with its requirements.
struct ProtocolSyntax {
    var declaration: DeclarationHead
    /// The name as the source spells it.
    var name: String
    var nameOffset: Int
    var inherited: [TypeSyntax] = []
    var isInheritanceKnown = true
    /// Where `<` of primary associated types or a `where` clause stands.
    var genericsOffset: Int?
    var whereOffset: Int?
    var members: [MemberSyntax] = []
    /// Where the parser could not go on.
    var faults: [Int] = []
    /// Every name in the text: generated names keep away from them.
    var words: Set<String> = []
}

/// What may stand before the keyword of any declaration.
struct DeclarationHead {
    /// Documentation comments, line by line, without indentation.
    var documentation: [String] = []
    var attributes: [AttributeSyntax] = []
    var modifiers: [String] = []
}

/// `@name` or `@name(arguments)`.
struct AttributeSyntax {
    var name: String
    /// With the parentheses.
    var arguments: String?
    var offset: Int

    var spelling: String { "@\(name)\(arguments ?? "")" }
}

/// One member of a protocol.
struct MemberSyntax {
    enum Kind: Equatable {
        case function, property, initializer, `subscript`, associatedType, typeAlias
        /// `#if` and other directives.
        case directive(String)
    }

    var kind: Kind
    var head = DeclarationHead()
    /// The name as the source spells it; for members without one, their keyword.
    var name: String
    /// Where the name stands: where a message about the member points.
    var offset: Int
    var hasGenerics = false
    var hasWhere = false
    var parameters: [ParameterSyntax] = []
    var effects = EffectsSyntax()
    var result: TypeSyntax?
    var accessors: [AccessorSyntax] = []
    /// The source from the keyword to the end, without accessors; what a stub repeats.
    var source: String = ""

    /// A type in the signature that means another one inside a proxy.
    var shadowedType: String? {
        (parameters.map(\.type) + [result].compactMap(\.self)).lazy.compactMap {
            TokenCursor($0.spelling).firstUnqualified(of: ServiceExpansion.memberTypes)
        }.first
    }
}

/// One parameter of a function.
struct ParameterSyntax {
    /// The label as spelled; `_` for none.
    var label: String
    /// The name inside, as spelled; `_` for none.
    var name: String
    /// `inout`, `sending` and their like.
    var specifiers: [String] = []
    var type: TypeSyntax
    var isVariadic = false
    var hasDefault = false
    var offset: Int
}

/// What stands between a function's parameters and its result.
struct EffectsSyntax {
    var isAsync = false
    var isThrowing = false
    /// The type in `throws(…)`.
    var thrownType: String?
    /// `rethrows`, `reasync`.
    var other: String?
}

/// One accessor in the braces of a property or subscript.
struct AccessorSyntax {
    /// `get`, `set` or anything else.
    var keyword: String
    var modifiers: [String] = []
    var effects = EffectsSyntax()
}

/// A type as the source spells it, with what the rules need to know about it.
struct TypeSyntax {
    /// What keeps a type from travelling by value. The innermost fault of a nested type is the fault of the whole.
    enum Shape: Equatable {
        case value
        case void
        case tuple, function, opaque, composition, metatype, selfType, inlineArray, implicitlyUnwrapped
        case pack, suppressed, untyped
        /// `any P`.
        case existential
        /// `AsyncThrowingStream<…>` and `AsyncStream<…>`.
        case stream
        /// An attribute or a specifier in front of a type.
        case attributed(String)
    }

    /// Without comments and with even spacing.
    var spelling: String
    var shape: Shape
    var offset: Int
}
