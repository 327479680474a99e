// Types, with their spelling and the one thing about them that the rules ask for.

extension ProtocolParser {
    mutating func type(depth: Int = 0) throws(ParsingFault) -> TypeSyntax {
        let start = cursor.index
        let offset = cursor.current.range.lowerBound
        var shape = try prefixedType(depth: depth)
        while cursor.isAt("&") {
            cursor.advance()
            _ = try prefixedType(depth: depth)
            if shape != .existential, shape != .opaque { shape = .composition }
        }
        if cursor.isAt("->") || isAtEffectsOfFunctionType {
            while !cursor.take("->") { try skipEffectOfFunctionType(depth: depth) }
            _ = try type(depth: depth + 1)
            shape = .function
        }
        return TypeSyntax(spelling: cursor.spelling(since: start), shape: shape, offset: offset)
    }

    /// `async` and `throws` after a type in parentheses belong to a function type, if an arrow follows.
    private var isAtEffectsOfFunctionType: Bool {
        guard cursor.isAt("async") || cursor.isAt("throws") || cursor.isAt("rethrows") else { return false }
        var ahead = cursor
        while ahead.isAt("async") || ahead.isAt("throws") || ahead.isAt("rethrows") {
            ahead.advance()
            if ahead.isAt("("), !ahead.skipBrackets() { return false }
        }
        return ahead.isAt("->")
    }

    private mutating func skipEffectOfFunctionType(depth: Int) throws(ParsingFault) {
        guard !cursor.isAtEnd else { throw ParsingFault(offset: cursor.current.range.lowerBound) }
        cursor.advance()
        if cursor.isAt("("), !cursor.skipBrackets() { throw ParsingFault(offset: cursor.current.range.lowerBound) }
    }

    private mutating func prefixedType(depth: Int) throws(ParsingFault) -> TypeSyntax.Shape {
        guard depth < Self.deepestNesting else { throw ParsingFault(offset: cursor.current.range.lowerBound) }
        switch cursor.current.text {
        case "@":
            cursor.advance()
            let name = try cursor.name().text
            // Arguments follow without a blank; after one, a type in parentheses begins.
            if cursor.isAt("("), cursor.current.triviaStart == cursor.current.range.lowerBound,
                !cursor.skipBrackets()
            {
                throw ParsingFault(offset: cursor.current.range.lowerBound)
            }
            let shape = try type(depth: depth + 1).shape
            return shape == .function ? .function : .attributed("@\(name)")
        case "~":
            cursor.advance()
            _ = try type(depth: depth + 1)
            return .suppressed
        case "any", "some", "repeat", "each", "inout", "borrowing", "consuming", "sending", "isolated", "nonisolated":
            let following = cursor.following
            guard following.isName || opensType(following), !following.startsLine || following.text != "func" else {
                return try postfixedType(depth: depth)
            }
            let word = cursor.advance().text
            let shape = try prefixedType(depth: depth + 1)
            return switch word {
            case "any": .existential
            case "some": .opaque
            case "repeat", "each": .pack
            default: shape == .function ? .function : .attributed(word)
            }
        default:
            return try postfixedType(depth: depth)
        }
    }

    private mutating func postfixedType(depth: Int) throws(ParsingFault) -> TypeSyntax.Shape {
        var shape = try primaryType(depth: depth)
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
                shape = Self.first(shape, try genericArguments(depth: depth))
            } else {
                return shape
            }
        }
    }

    private mutating func primaryType(depth: Int) throws(ParsingFault) -> TypeSyntax.Shape {
        if cursor.isAt("(") { return try parenthesizedType(depth: depth) }
        if cursor.isAt("[") { return try bracketedType(depth: depth) }
        let name = try cursor.name()
        guard name.kind == .escapedWord || !Self.neverTypes.contains(name.text) else {
            throw ParsingFault(offset: name.range.lowerBound)
        }
        let arguments = try genericArguments(depth: depth)
        // A module's name may stand before the ones that matter.
        return Self.first(Self.shape(ofName: lastName(from: name)), arguments)
    }

    /// `Swift.Void` and `_Concurrency.AsyncStream` are what their last name says.
    private func lastName(from name: SwiftToken) -> String {
        guard name.text == "Swift" || name.text == "_Concurrency", cursor.isAt("."), cursor.following.isName else {
            return name.text
        }
        return cursor.following.text
    }

    private static func shape(ofName name: String) -> TypeSyntax.Shape {
        switch name {
        case "Void": .void
        case "Self": .selfType
        case "Any", "AnyObject": .untyped
        case "AsyncThrowingStream", "AsyncStream": .stream
        default: .value
        }
    }

    private mutating func genericArguments(depth: Int) throws(ParsingFault) -> TypeSyntax.Shape {
        guard cursor.isAt("<") else { return .value }
        cursor.advance()
        var shape = TypeSyntax.Shape.value
        while !cursor.isAt(">") {
            if cursor.current.kind == .number || cursor.isAt("-") {
                cursor.advance()
            } else {
                shape = Self.first(shape, Self.inside(try type(depth: depth + 1).shape))
            }
            guard cursor.take(",") else { break }
        }
        try cursor.expect(">")
        return shape
    }

    private mutating func parenthesizedType(depth: Int) throws(ParsingFault) -> TypeSyntax.Shape {
        cursor.advance()
        var shape = TypeSyntax.Shape.void
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
            shape = try type(depth: depth + 1).shape
            if cursor.take("...") || isLabelled { shape = .tuple }
            count += 1
            guard cursor.take(",") else { break }
        }
        try cursor.expect(")")
        return count > 1 ? .tuple : shape
    }

    private mutating func bracketedType(depth: Int) throws(ParsingFault) -> TypeSyntax.Shape {
        cursor.advance()
        if cursor.current.kind == .number || cursor.following.text == "of" {
            cursor.advance()
            try cursor.expect("of")
            _ = try type(depth: depth + 1)
            try cursor.expect("]")
            return .inlineArray
        }
        var shape = Self.inside(try type(depth: depth + 1).shape)
        if cursor.take(":") { shape = Self.first(shape, Self.inside(try type(depth: depth + 1).shape)) }
        try cursor.expect("]")
        return shape
    }

    /// What a type is inside another: no result stands there, so `Void` is the empty tuple.
    private static func inside(_ shape: TypeSyntax.Shape) -> TypeSyntax.Shape { shape == .void ? .tuple : shape }

    private static func first(_ left: TypeSyntax.Shape, _ right: TypeSyntax.Shape) -> TypeSyntax.Shape {
        left == .value ? right : left
    }

    private static let neverTypes: Set<String> = [
        "func", "var", "let", "init", "subscript", "associatedtype", "typealias", "where", "throws", "rethrows",
        "protocol", "struct", "class", "enum", "extension", "import", "return", "if", "for", "while", "in", "is", "as",
        "_", "self", "super", "true", "false", "nil", "static", "case", "switch", "default", "guard", "inout",
    ]
}
