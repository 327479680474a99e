// Tokens in, a protocol as it is written out. Recursive descent over the whole grammar that may stand in a protocol, so
// that what is refused later can be named. Makes no judgement, and on what it does not understand goes on with the
// next member.

/// Reads one protocol declaration.
struct ProtocolParser {
    /// Types nested deeper are not understood; the compiler's own limit is not far above.
    static let deepestNesting = 64

    private static let mostFaults = 20

    var cursor: TokenCursor

    init(_ source: String) { cursor = TokenCursor(source) }

    /// The protocol, or nil when the source is something else.
    mutating func parse() -> ProtocolSyntax? {
        let head = declarationHead()
        guard cursor.take("protocol"), cursor.current.isName else { return nil }
        let name = cursor.advance()
        var syntax = ProtocolSyntax(declaration: head, name: name.text, nameOffset: name.range.lowerBound)
        syntax.words = Set(cursor.tokens.filter(\.isName).map(\.plainName))
        do {
            try parseInheritance(of: &syntax)
        } catch {
            syntax.faults.append(error.offset)
            syntax.isInheritanceKnown = false
            while !cursor.isAtEnd, !cursor.isAt("{") { cursor.advance() }
        }
        parseMembers(of: &syntax)
        return syntax
    }

    /// Documentation, attributes and modifiers, up to the keyword of a declaration.
    mutating func declarationHead() -> DeclarationHead {
        var head = DeclarationHead()
        head.documentation = cursor.documentation()
        while true {
            if cursor.isAt("@"), let attribute = attribute() {
                head.attributes.append(attribute)
            } else if cursor.current.kind == .word, Self.modifiers.contains(cursor.current.text),
                !Self.endsName(cursor.following)
            {
                head.modifiers.append(modifier())
            } else {
                return head
            }
            if head.documentation.isEmpty { head.documentation = cursor.documentation() }
        }
    }

    /// `private(set)` and the like are read as one.
    private mutating func modifier() -> String {
        let start = cursor.index
        cursor.advance()
        if cursor.isAt("("), !cursor.skipBrackets() { return cursor.tokens[start].text }
        return cursor.spelling(since: start)
    }

    private mutating func attribute() -> AttributeSyntax? {
        guard cursor.following.isName else { return nil }
        let offset = cursor.advance().range.lowerBound
        var start = cursor.index
        cursor.advance()
        while cursor.isAt("."), cursor.following.isName {
            cursor.advance()
            cursor.advance()
        }
        let name = cursor.spelling(since: start)
        guard cursor.isAt("(") else { return AttributeSyntax(name: name, offset: offset) }
        start = cursor.index
        guard cursor.skipBrackets() else { return nil }
        return AttributeSyntax(name: name, arguments: cursor.source(since: start), offset: offset)
    }

    private mutating func parseInheritance(of syntax: inout ProtocolSyntax) throws(ParsingFault) {
        if cursor.isAt("<") {
            syntax.genericsOffset = cursor.current.range.lowerBound
            try skipGenerics()
        }
        if cursor.take(":") {
            repeat { syntax.inherited.append(try type()) } while cursor.take(",")
        }
        if cursor.isAt("where") {
            syntax.whereOffset = cursor.current.range.lowerBound
            while !cursor.isAtEnd, !cursor.isAt("{") { cursor.advance() }
        }
        guard cursor.isAt("{") else { throw ParsingFault(offset: cursor.current.range.lowerBound) }
    }

    private mutating func parseMembers(of syntax: inout ProtocolSyntax) {
        guard cursor.take("{") else { return }
        while !cursor.isAtEnd, !cursor.isAt("}") {
            if cursor.take(";") { continue }
            let start = cursor.index
            do {
                syntax.members.append(try member())
            } catch {
                let begin = cursor.tokens[start].range.lowerBound
                // Going back costs; after so many faults nothing more is to be learnt.
                if syntax.faults.count >= Self.mostFaults { return }
                skipToNextMember(since: start)
                // What was read as part of this member may be the next one.
                syntax.faults.append(cursor.current.range.lowerBound > error.offset ? error.offset : begin)
            }
        }
        if !cursor.take("}") { syntax.faults.append(cursor.current.range.lowerBound) }
    }

    /// Goes on at the next line that begins like a member.
    private mutating func skipToNextMember(since start: Int) {
        cursor.rewind(to: start)
        cursor.advance()
        while !cursor.isAtEnd, !cursor.isAt("}") {
            let token = cursor.current
            if token.startsLine, Self.introducers.contains(token.text) || Self.modifiers.contains(token.text) { return }
            if token.startsLine, token.text == "@" || token.kind == .directive { return }
            if !cursor.isAt("{") || !cursor.skipBrackets() { cursor.advance() }
        }
    }

    /// Whether a word before this token is a name and not a modifier.
    private static func endsName(_ token: SwiftToken) -> Bool {
        token.kind == .sign && !["@", "("].contains(token.text) || token.kind == .end
    }

    static let introducers: Set<String> = ["func", "var", "let", "init", "subscript", "associatedtype", "typealias"]

    private static let modifiers: Set<String> = [
        "public", "package", "internal", "fileprivate", "private", "open", "static", "class", "mutating",
        "nonmutating", "nonisolated", "isolated", "optional", "final", "override", "prefix", "postfix", "infix",
        "required", "convenience", "dynamic", "lazy", "weak", "unowned", "indirect", "async", "distributed",
        "borrowing", "consuming", "__consuming",
    ]
}
