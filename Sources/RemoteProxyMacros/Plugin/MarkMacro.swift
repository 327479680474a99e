// The request for one `@ReadOnly` or `@Idempotent` in, nothing out: `@Service` reads the marks itself. What is judged
// here is only the place, because `@Service` does not see a mark that stands elsewhere.

/// The macros that say what a requirement does.
enum MarkMacro {
    @Sendable
    static func expand(_ request: ExpansionRequest) -> Expansion {
        guard !isOnRequirement(request) else { return Expansion(expandedSource: "") }
        var parser = ProtocolParser(request.attributeSyntax.source)
        let name = parser.declarationHead().attributes.first?.name ?? "this"
        return Expansion(expandedSource: "", diagnostics: [.init(.misplacedMark(name), in: request)])
    }

    private static func isOnRequirement(_ request: ExpansionRequest) -> Bool {
        var declaration = ProtocolParser(request.declSyntax.source)
        _ = declaration.declarationHead()
        var surrounding = ProtocolParser(request.lexicalContext?.first?.source ?? "")
        _ = surrounding.declarationHead()
        return ["func", "var"].contains(declaration.cursor.current.text) && surrounding.cursor.isAt("protocol")
    }
}
