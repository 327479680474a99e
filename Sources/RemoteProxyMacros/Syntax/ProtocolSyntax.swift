// Reads a protocol as written, with all kinds of members, so that a refusal can name them. Judges nothing. If a member cannot be
// read, reading continues with the next one.

/// One protocol declaration.
struct ProtocolSyntax {
    /// Going back after a fault takes time. After this many, reading stops.
    private static let mostFaults = 20

    let head: DeclarationHead
    /// The name as the source spells it.
    let name: String
    let nameOffset: Int
    private(set) var inherited: [(type: TypeSyntax, offset: Int)] = []
    private(set) var isInheritanceKnown = true
    /// Where `<` of primary associated types or a `where` clause stands.
    private(set) var genericsOffset: Int?
    private(set) var whereOffset: Int?
    private(set) var members: [MemberSyntax] = []
    /// The offsets at which a member could not be read.
    private(set) var faults: [Int] = []
    /// Every name in the text. Generated names must differ from all of them.
    let words: Set<String>

    var plainName: String { SwiftName.plain(name) }

    /// Nil if the source is not a protocol.
    init?(_ source: String) {
        var cursor = TokenCursor(source)
        head = DeclarationHead(from: &cursor)
        guard cursor.take("protocol"), cursor.current.isName else { return nil }
        nameOffset = cursor.offset
        name = cursor.advance().text
        words = Set(cursor.tokens.filter(\.isName).map(\.plainName))
        do {
            try readInheritance(from: &cursor)
        } catch {
            faults.append(error.offset)
            isInheritanceKnown = false
            cursor.skip(to: "{")
        }
        readMembers(from: &cursor)
    }

    private mutating func readInheritance(from cursor: inout TokenCursor) throws(ParsingFault) {
        if cursor.isAt("<") {
            genericsOffset = cursor.offset
            try cursor.skipGenerics()
        }
        if cursor.take(":") {
            repeat {
                let offset = cursor.offset
                inherited.append((try cursor.type(), offset))
            } while cursor.take(",")
        }
        if cursor.isAt("where") {
            whereOffset = cursor.offset
            cursor.skip(to: "{")
        }
        guard cursor.isAt("{") else { throw cursor.fault }
    }

    private mutating func readMembers(from cursor: inout TokenCursor) {
        guard cursor.take("{") else { return }
        while !cursor.isAtEnd, !cursor.isAt("}") {
            if cursor.take(";") { continue }
            let start = cursor
            do {
                members.append(try MemberSyntax(from: &cursor))
            } catch {
                if faults.count >= Self.mostFaults { return }
                // Part of the text that was read as this member may be the next one.
                cursor = start
                Self.skipToNextMember(&cursor)
                faults.append(cursor.offset > error.offset ? error.offset : start.offset)
            }
        }
        if !cursor.take("}") { faults.append(cursor.offset) }
    }

    /// Skips to the next line that begins like a member.
    private static func skipToNextMember(_ cursor: inout TokenCursor) {
        cursor.advance()
        while !cursor.isAtEnd, !cursor.isAt("}"), !cursor.current.startsLine || !beginsMember(cursor.current) {
            if !cursor.isAt("{") || !cursor.skipBrackets() { cursor.advance() }
        }
    }

    private static func beginsMember(_ token: SwiftToken) -> Bool {
        token.text == "@" || MemberSyntax.Kind(token) != nil || DeclarationHead.modifierWords.contains(token.text)
    }
}
