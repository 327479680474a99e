// Reads the members of a protocol as written, whether they can be remote or not.

/// One member of a protocol.
struct MemberSyntax {
    enum Kind: String {
        case function = "func"
        case property = "var"
        case initializer = "init"
        case `subscript`
        case associatedType = "associatedtype"
        case typeAlias = "typealias"
        /// `#if` and other directives.
        case directive = "#if"

        init?(_ keyword: SwiftToken) {
            let word = keyword.kind == .directive ? "#if" : keyword.text == "let" ? "var" : keyword.text
            self.init(rawValue: word)
        }
    }

    let kind: Kind
    let head: DeclarationHead
    /// The name without back-ticks. A member without a name has its keyword here.
    private(set) var name: String
    /// The offset of the name, where a message about the member points.
    private(set) var offset: Int
    private(set) var hasGenerics = false
    private(set) var hasWhere = false
    private(set) var parameters: [ParameterSyntax] = []
    private(set) var effects = EffectsSyntax()
    private(set) var result: TypeSyntax?
    private(set) var accessors: [AccessorSyntax] = []
    /// The source from the keyword to the end, without accessors; a stub repeats it.
    private(set) var source = ""

    /// The type of a property or of a function's result, unless that is `Void`.
    var valueType: TypeSyntax? { result.flatMap { $0.shape == .void ? nil : $0 } }

    init(from cursor: inout TokenCursor) throws(ParsingFault) {
        head = DeclarationHead(from: &cursor)
        let start = cursor.index
        guard let kind = Kind(cursor.current) else { throw cursor.fault }
        self.kind = kind
        offset = cursor.offset
        name = cursor.advance().text
        switch kind {
        case .function:
            readFunctionName(from: &cursor)
            try readSignature(from: &cursor)
        case .initializer, .subscript:
            if cursor.isAt("?") || cursor.isAt("!") { cursor.advance() }
            try readSignature(from: &cursor)
        case .property:
            try readName(from: &cursor)
            try cursor.expect(":")
            result = try cursor.type()
        case .associatedType:
            try readName(from: &cursor)
            cursor.skipRestOfLine()
        case .typeAlias:
            try readName(from: &cursor)
            if cursor.isAt("<") { try cursor.skipGenerics() }
            try cursor.expect("=")
            _ = try cursor.type()
        case .directive:
            skipDirective(from: &cursor)
        }
        source = cursor.source(since: start)
        if kind == .property || kind == .subscript { try readAccessors(from: &cursor) }
    }

    private mutating func readName(from cursor: inout TokenCursor) throws(ParsingFault) {
        offset = cursor.offset
        name = try cursor.name().plainName
    }

    /// Reads the name of a function. An operator's name is all signs up to the parameters.
    private mutating func readFunctionName(from cursor: inout TokenCursor) {
        let start = cursor.index
        offset = cursor.offset
        if !cursor.advance().isName {
            while cursor.current.kind == .sign, !cursor.isAt("("), !cursor.isAt("<") { cursor.advance() }
        }
        name = SwiftName.plain(cursor.source(since: start))
    }

    /// Skips the line of a directive; for `#if` everything up to its `#endif`.
    private func skipDirective(from cursor: inout TokenCursor) {
        var depth = name == "#if" ? 1 : 0
        while !cursor.isAtEnd, depth > 0 || !cursor.current.startsLine && !cursor.isAt("}") {
            if cursor.isAt("#if") { depth += 1 }
            if cursor.isAt("#endif") { depth -= 1 }
            cursor.advance()
        }
    }

    private mutating func readSignature(from cursor: inout TokenCursor) throws(ParsingFault) {
        if cursor.isAt("<") {
            hasGenerics = true
            try cursor.skipGenerics()
        }
        try cursor.expect("(")
        while !cursor.isAt(")") {
            parameters.append(try ParameterSyntax(from: &cursor))
            guard cursor.take(",") else { break }
        }
        try cursor.expect(")")
        effects = try EffectsSyntax(from: &cursor)
        if cursor.take("->") { result = try cursor.type() }
        if cursor.take("where") {
            hasWhere = true
            cursor.skipRestOfLine()
        }
    }

    private mutating func readAccessors(from cursor: inout TokenCursor) throws(ParsingFault) {
        try cursor.expect("{")
        while !cursor.isAt("}") {
            accessors.append(try AccessorSyntax(from: &cursor))
            _ = cursor.take(";")
        }
        try cursor.expect("}")
    }
}

/// One parameter of a function.
struct ParameterSyntax {
    /// The label without back-ticks; nil if calls have none.
    let label: String?
    /// The name without back-ticks, which is also the name on the wire; `_` for none.
    let name: String
    let type: TypeSyntax
    let isVariadic: Bool
    let hasDefault: Bool
    let offset: Int

    init(from cursor: inout TokenCursor) throws(ParsingFault) {
        offset = cursor.following.isName ? cursor.following.range.lowerBound : cursor.offset
        let label = try cursor.name().plainName
        self.label = label == "_" ? nil : label
        name = cursor.current.isName ? cursor.advance().plainName : label
        try cursor.expect(":")
        type = try cursor.type()
        isVariadic = cursor.take("...")
        hasDefault = cursor.take("=")
        if hasDefault { cursor.expression() }
    }

    /// The name as a declaration or an expression spells it.
    var spelling: String { SwiftName.spelled(name) }

    /// The parameter as a function declares it.
    var declaration: String {
        guard let label else { return "_ \(spelling): \(type.spelling)" }
        return SwiftName.label(label) + (label == name ? "" : " \(spelling)") + ": \(type.spelling)"
    }
}

/// The words between the parameters of a function and its result.
struct EffectsSyntax {
    private(set) var isAsync = false
    private(set) var isThrowing = false
    /// The type in `throws(…)`.
    private(set) var thrownType: String?
    /// `rethrows`, `reasync`.
    private(set) var other: String?

    var isPresent: Bool { isAsync || isThrowing || other != nil }

    init() {}

    init(from cursor: inout TokenCursor) throws(ParsingFault) {
        while true {
            switch cursor.current.text {
            case "async": isAsync = true
            case "throws": isThrowing = true
            case "rethrows", "reasync": other = cursor.current.text
            default: return
            }
            if cursor.advance().text == "throws", cursor.take("(") {
                thrownType = try cursor.type().spelling
                try cursor.expect(")")
            }
        }
    }
}

/// One accessor in the braces of a property or subscript.
struct AccessorSyntax {
    /// `get`, `set` or anything else.
    let keyword: String
    let modifiers: [String]
    let effects: EffectsSyntax
    /// The whole accessor, with even spacing.
    let source: String

    init(from cursor: inout TokenCursor) throws(ParsingFault) {
        let start = cursor.index
        modifiers = DeclarationHead(from: &cursor).modifiers
        keyword = try cursor.name().text
        effects = try EffectsSyntax(from: &cursor)
        source = cursor.spelling(since: start)
    }
}
