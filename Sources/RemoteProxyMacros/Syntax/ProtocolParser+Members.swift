// The members of a protocol: one method per kind.

extension ProtocolParser {
    mutating func member() throws(ParsingFault) -> MemberSyntax {
        let head = declarationHead()
        let start = cursor.index
        let keyword = cursor.current
        var member: MemberSyntax
        switch keyword.text {
        case "func": member = try function()
        case "var", "let": member = try property()
        case "init": member = try initializer()
        case "subscript": member = try subscriptMember()
        case "associatedtype": member = try associatedType()
        case "typealias": member = try typeAlias()
        default:
            guard keyword.kind == .directive else { throw ParsingFault(offset: keyword.range.lowerBound) }
            member = directive()
        }
        member.head = head
        if member.source.isEmpty { member.source = cursor.source(since: start) }
        return member
    }

    private mutating func function() throws(ParsingFault) -> MemberSyntax {
        cursor.advance()
        let offset = cursor.current.range.lowerBound
        let start = cursor.index
        // An operator's name is all signs up to the parameters.
        if cursor.current.isName { cursor.advance() } else { skipOperator() }
        var member = MemberSyntax(kind: .function, name: cursor.source(since: start), offset: offset)
        try signature(of: &member)
        return member
    }

    private mutating func skipOperator() {
        repeat { cursor.advance() } while cursor.current.kind == .sign && !cursor.isAt("(") && !cursor.isAt("<")
    }

    private mutating func initializer() throws(ParsingFault) -> MemberSyntax {
        let keyword = cursor.advance()
        var member = MemberSyntax(kind: .initializer, name: "init", offset: keyword.range.lowerBound)
        if cursor.isAt("?") || cursor.isAt("!") { cursor.advance() }
        try signature(of: &member)
        return member
    }

    private mutating func subscriptMember() throws(ParsingFault) -> MemberSyntax {
        let start = cursor.index
        let keyword = cursor.advance()
        var member = MemberSyntax(kind: .subscript, name: "subscript", offset: keyword.range.lowerBound)
        try signature(of: &member)
        member.source = cursor.source(since: start)
        member.accessors = try accessors()
        return member
    }

    private mutating func property() throws(ParsingFault) -> MemberSyntax {
        let start = cursor.index
        cursor.advance()
        let name = try cursor.name()
        var member = MemberSyntax(kind: .property, name: name.text, offset: name.range.lowerBound)
        try cursor.expect(":")
        member.result = try type()
        member.source = cursor.source(since: start)
        member.accessors = try accessors()
        return member
    }

    private mutating func associatedType() throws(ParsingFault) -> MemberSyntax {
        cursor.advance()
        let name = try cursor.name()
        while !cursor.isAtEnd, !cursor.isAt("}"), !cursor.isAt(";"), !cursor.current.startsLine { cursor.advance() }
        return MemberSyntax(kind: .associatedType, name: name.text, offset: name.range.lowerBound)
    }

    private mutating func typeAlias() throws(ParsingFault) -> MemberSyntax {
        cursor.advance()
        let name = try cursor.name()
        if cursor.isAt("<") { try skipGenerics() }
        try cursor.expect("=")
        _ = try type()
        return MemberSyntax(kind: .typeAlias, name: name.text, offset: name.range.lowerBound)
    }

    /// A directive takes its line; `#if` takes all up to its `#endif`.
    private mutating func directive() -> MemberSyntax {
        let keyword = cursor.advance()
        var depth = keyword.text == "#if" ? 1 : 0
        while !cursor.isAtEnd, depth > 0 || !cursor.current.startsLine && !cursor.isAt("}") {
            if cursor.isAt("#if") { depth += 1 }
            if cursor.isAt("#endif") { depth -= 1 }
            cursor.advance()
        }
        return MemberSyntax(kind: .directive(keyword.text), name: keyword.text, offset: keyword.range.lowerBound)
    }

    private mutating func signature(of member: inout MemberSyntax) throws(ParsingFault) {
        if cursor.isAt("<") {
            member.hasGenerics = true
            try skipGenerics()
        }
        member.parameters = try parameters()
        member.effects = try effects()
        if cursor.take("->") { member.result = try type() }
        guard cursor.take("where") else { return }
        member.hasWhere = true
        while !cursor.isAtEnd, !cursor.current.startsLine, !cursor.isAt("}"), !cursor.isAt("{") { cursor.advance() }
    }

    private mutating func parameters() throws(ParsingFault) -> [ParameterSyntax] {
        try cursor.expect("(")
        var parameters: [ParameterSyntax] = []
        while !cursor.isAt(")") {
            parameters.append(try parameter())
            guard cursor.take(",") else { break }
        }
        try cursor.expect(")")
        return parameters
    }

    private mutating func parameter() throws(ParsingFault) -> ParameterSyntax {
        let label = try cursor.name()
        let name = cursor.current.isName ? cursor.advance() : label
        try cursor.expect(":")
        var specifiers: [String] = []
        while Self.specifiers.contains(cursor.current.text),
            cursor.following.kind != .sign || opensType(cursor.following)
        {
            specifiers.append(cursor.advance().text)
        }
        let type = try type()
        let isVariadic = cursor.take("...")
        let hasDefault = cursor.isAt("=")
        try skipDefaultValue()
        return ParameterSyntax(
            label: label.text, name: name.text, specifiers: specifiers, type: type, isVariadic: isVariadic,
            hasDefault: hasDefault, offset: name.range.lowerBound)
    }

    private mutating func skipDefaultValue() throws(ParsingFault) {
        guard cursor.take("=") else { return }
        while !cursor.isAt(","), !cursor.isAt(")") {
            if cursor.isAt("(") || cursor.isAt("[") || cursor.isAt("{") {
                guard cursor.skipBrackets() else { throw ParsingFault(offset: cursor.current.range.lowerBound) }
            } else if cursor.isAtEnd {
                throw ParsingFault(offset: cursor.current.range.lowerBound)
            } else {
                cursor.advance()
            }
        }
    }

    /// Whether a word before this sign stands in front of a type.
    func opensType(_ token: SwiftToken) -> Bool { ["(", "[", "@", "~"].contains(token.text) }

    private static let specifiers: Set<String> = [
        "inout", "borrowing", "consuming", "sending", "isolated", "__owned", "__shared", "_const",
    ]

    private mutating func effects() throws(ParsingFault) -> EffectsSyntax {
        var effects = EffectsSyntax()
        while true {
            switch cursor.current.text {
            case "async": effects.isAsync = true
            case "throws": effects.isThrowing = true
            case "rethrows", "reasync": effects.other = cursor.current.text
            default: return effects
            }
            let isThrows = cursor.advance().text == "throws"
            if isThrows, cursor.take("(") {
                effects.thrownType = try type().spelling
                try cursor.expect(")")
            }
        }
    }

    private mutating func accessors() throws(ParsingFault) -> [AccessorSyntax] {
        try cursor.expect("{")
        var accessors: [AccessorSyntax] = []
        while !cursor.isAt("}") {
            let head = declarationHead()
            let keyword = try cursor.name()
            accessors.append(
                AccessorSyntax(keyword: keyword.text, modifiers: head.modifiers, effects: try effects()))
            _ = cursor.take(";")
        }
        try cursor.expect("}")
        return accessors
    }

    /// Skips `<` … `>`. An arrow is one token, so its `>` does not count.
    mutating func skipGenerics() throws(ParsingFault) {
        var depth = 0
        repeat {
            if cursor.isAt("<") { depth += 1 }
            if cursor.isAt(">") { depth -= 1 }
            guard !cursor.isAtEnd, !cursor.isAt("{") else {
                throw ParsingFault(offset: cursor.current.range.lowerBound)
            }
            cursor.advance()
        } while depth > 0
    }
}
