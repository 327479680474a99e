// Reads any type of Swift by recursive descent: its spelling, and why its values cannot be sent, if they cannot.

/// A type as the source spells it.
struct TypeSyntax {
    /// Why the values of a type cannot be sent. The innermost fault of a nested type is the fault of the whole.
    enum Shape: Equatable {
        case value
        case void
        case tuple, function, opaque, composition, metatype, selfType, inlineArray, implicitlyUnwrapped
        case pack, suppressed, untyped
        /// `any P`.
        case existential
        /// `AsyncThrowingStream<…>` and `AsyncStream<…>`.
        case stream
        /// A type with this attribute, or with a specifier such as `inout`, in front.
        case specified(String)
    }

    /// Without comments and with even spacing.
    let spelling: String
    let shape: Shape

    init(from cursor: inout TokenCursor) throws(ParsingFault) {
        let start = cursor.index
        var shape = try Self.operand(&cursor)
        while cursor.take("&") {
            _ = try Self.operand(&cursor)
            shape = .composition
        }
        let effects = try EffectsSyntax(from: &cursor)
        if effects.isPresent || cursor.isAt("->") {
            try cursor.expect("->")
            _ = try cursor.type()
            shape = .function
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
        let shape = try cursor.type().shape
        return switch word {
        case "any": .existential
        case "some": .opaque
        case "repeat", "each": .pack
        default: shape == .function ? .function : .specified(word)
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
            } else if cursor.isAt("!"), !cursor.current.startsLine {
                cursor.advance()
                if shape == .value { shape = .implicitlyUnwrapped }
            } else if cursor.isAt("."), cursor.following.isName {
                cursor.advance()
                let name = cursor.advance().text
                if name == "Type" || name == "Protocol" { shape = .metatype }
                shape = first(shape, try genericArguments(&cursor))
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
                shape = first(shape, try inner(&cursor))
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
        var shape = try inner(&cursor)
        if cursor.take(":") { shape = first(shape, try inner(&cursor)) }
        try cursor.expect("]")
        return shape
    }

    /// A type inside another one, where `Void` means the empty tuple and not a missing result.
    private static func inner(_ cursor: inout TokenCursor) throws(ParsingFault) -> Shape {
        let shape = try cursor.type().shape
        return shape == .void ? .tuple : shape
    }

    private static func first(_ left: Shape, _ right: Shape) -> Shape { left == .value ? right : left }
}
