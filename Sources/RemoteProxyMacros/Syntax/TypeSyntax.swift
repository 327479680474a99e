// Reads any type of Swift by recursive descent: its spelling, and why its values cannot be sent, if they cannot.

/// A type as the source spells it.
struct TypeSyntax: Equatable {
    /// Why the values of a type cannot be sent. The innermost fault of a nested type is the fault of the whole.
    enum Shape: Equatable {
        case value
        case void
        case tuple, function, composition, metatype, selfType, inlineArray, implicitlyUnwrapped
        case pack, suppressed, untyped
        /// `some P`, with the protocols as spelled after `some`.
        case opaque(String)
        /// `any P`, alone or in optionals, arrays and dictionaries that are spelled with `?` and brackets.
        case objects(ObjectSyntax)
        /// A function type that stands alone; `function` is one inside another type.
        indirect case closure(ClosureSyntax)
        /// `any P` inside any other type, with the protocols as spelled after `any`.
        case enclosedObjects(String)
        /// `AsyncThrowingStream<…>` and `AsyncStream<…>`.
        case stream
        /// A type with this attribute, or with a specifier such as `inout`, in front.
        case specified(String)

        fileprivate var objects: ObjectSyntax? { if case .objects(let objects) = self { objects } else { nil } }
    }

    /// Without comments and with even spacing.
    let spelling: String
    let shape: Shape
    /// Where the objects are in its values; nil if none are sent with them.
    var objects: ObjectSyntax? { shape.objects }
    /// The type of a variable, which is always escaping.
    var stored: String { spelling.replacing("@escaping ", with: "") }

    init(from cursor: inout TokenCursor) throws(ParsingFault) {
        let start = cursor.index
        var shape = try Self.operand(&cursor)
        while cursor.take("&") {
            _ = try Self.operand(&cursor)
            shape = .composition
        }
        let parameters = cursor.spelling(since: start)
        let effects = try EffectsSyntax(from: &cursor)
        if effects.isPresent || cursor.isAt("->") {
            try cursor.expect("->")
            shape = .closure(ClosureSyntax(parameters: parameters, effects, result: try cursor.type()))
        }
        self.shape = shape
        spelling = cursor.spelling(since: start)
    }

    /// One side of `&`.
    private static func operand(_ cursor: inout TokenCursor) throws(ParsingFault) -> Shape {
        if cursor.take("~") {
            _ = try cursor.type()
            return .suppressed
        }
        let isAttribute = cursor.isAt("@")
        let following = cursor.following
        let opensType = following.isName || ["(", "[", "@", "~"].contains(following.text)
        guard isAttribute || opensType && prefixes.contains(cursor.current.text) else { return try postfixed(&cursor) }
        var word = cursor.advance().text
        if isAttribute { word += try cursor.name().text }
        // Arguments follow without a blank; after a blank, a type in parentheses begins.
        if isAttribute || word == "nonisolated", cursor.isAt("("), cursor.isAdjacent, !cursor.skipBrackets() {
            throw cursor.fault
        }
        let type = try cursor.type()
        return switch (word, type.shape) {
        case ("any", .value), ("any", .composition), ("any", .untyped): .objects(.object(type.spelling))
        case ("any", let fault): fault
        case ("some", _): .opaque(type.spelling)
        case ("repeat", _), ("each", _): .pack
        case (_, .function): .function
        case (_, .closure(let closure)): .closure(closure.with(word))
        default: .specified(word)
        }
    }

    private static let prefixes: Set<String> = [
        "any", "some", "repeat", "each", "inout", "borrowing", "consuming", "sending", "isolated", "nonisolated",
        "__owned", "__shared", "_const",
    ]

    private static func postfixed(_ cursor: inout TokenCursor) throws(ParsingFault) -> Shape {
        var shape = try primary(&cursor)
        while true {
            if cursor.isAt("?"), !cursor.current.startsLine {
                cursor.advance()
                if shape == .void { shape = .tuple }
                shape = withoutClosure(shape)
                if case .objects(let inner) = shape { shape = .objects(.optional(inner)) }
            } else if cursor.isAt("!"), !cursor.current.startsLine {
                cursor.advance()
                if shape == .value || shape.objects != nil { shape = .implicitlyUnwrapped }
            } else if cursor.isAt("."), cursor.following.isName {
                cursor.advance()
                let name = cursor.advance().text
                if name == "Type" || name == "Protocol" { shape = .metatype }
                shape = first(enclosed(shape), try genericArguments(&cursor))
            } else {
                return shape
            }
        }
    }

    private static func primary(_ cursor: inout TokenCursor) throws(ParsingFault) -> Shape {
        if cursor.isAt("(") { return try parenthesized(&cursor) }
        if cursor.isAt("[") { return try bracketed(&cursor) }
        var name = cursor.current
        guard name.isName, !SwiftName.keywords.contains(name.text) || ["Any", "Self"].contains(name.text) else {
            throw cursor.fault
        }
        cursor.advance()
        // The module may stand before a name that matters.
        if ["Swift", "_Concurrency"].contains(name.text), cursor.isAt("."), cursor.following.isName {
            cursor.advance()
            name = cursor.advance()
        }
        return first(shape(ofName: name.text), try genericArguments(&cursor))
    }

    private static func shape(ofName name: String) -> Shape {
        switch name {
        case "Void": .void
        case "Self": .selfType
        case "Any", "AnyObject": .untyped
        case "AsyncThrowingStream", "AsyncStream": .stream
        default: .value
        }
    }

    private static func genericArguments(_ cursor: inout TokenCursor) throws(ParsingFault) -> Shape {
        guard cursor.take("<") else { return .value }
        var shape = Shape.value
        while !cursor.isAt(">") {
            if cursor.current.kind == .number || cursor.isAt("-") {
                cursor.advance()
            } else {
                shape = first(shape, enclosed(try inner(&cursor)))
            }
            guard cursor.take(",") else { break }
        }
        try cursor.expect(">")
        return shape
    }

    private static func parenthesized(_ cursor: inout TokenCursor) throws(ParsingFault) -> Shape {
        cursor.advance()
        var shape = Shape.void
        var count = 0
        while !cursor.isAt(")") {
            var isLabelled = false
            while cursor.current.isName,
                cursor.following.isName && cursor.current.text == "_" || cursor.following.text == ":"
            {
                isLabelled = true
                cursor.advance()
                _ = cursor.take(":")
            }
            shape = try cursor.type().shape
            if cursor.take("...") || isLabelled { shape = .tuple }
            count += 1
            guard cursor.take(",") else { break }
        }
        try cursor.expect(")")
        return count > 1 ? .tuple : shape
    }

    private static func bracketed(_ cursor: inout TokenCursor) throws(ParsingFault) -> Shape {
        cursor.advance()
        if cursor.current.kind == .number || cursor.following.text == "of" {
            cursor.advance()
            try cursor.expect("of")
            _ = try cursor.type()
            try cursor.expect("]")
            return .inlineArray
        }
        let start = cursor.index
        let element = try inner(&cursor)
        let key = cursor.spelling(since: start)
        guard cursor.take(":") else {
            try cursor.expect("]")
            return element.objects.map { .objects(.array($0)) } ?? element
        }
        let value = try inner(&cursor)
        try cursor.expect("]")
        return first(enclosed(element), value.objects.map { .objects(.dictionary(key: key, $0)) } ?? value)
    }

    /// A type inside another one, where `Void` means the empty tuple and not a missing result.
    private static func inner(_ cursor: inout TokenCursor) throws(ParsingFault) -> Shape {
        let shape = withoutClosure(try cursor.type().shape)
        return shape == .void ? .tuple : shape
    }

    /// The shape as it counts inside another type.
    private static func withoutClosure(_ shape: Shape) -> Shape {
        if case .closure = shape { .function } else { shape }
    }

    /// The shape as a fault of the type around it, if that has no place for objects.
    private static func enclosed(_ shape: Shape) -> Shape {
        shape.objects.map { .enclosedObjects($0.protocols) } ?? shape
    }

    private static func first(_ left: Shape, _ right: Shape) -> Shape { left == .value ? right : left }
}
