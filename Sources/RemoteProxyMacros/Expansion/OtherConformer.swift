// The source of a proxy in, a second type that conforms to its protocol out. In whole-module release builds the
// optimiser takes the only conformer of an internal protocol for every `any P`. It does not see what a peer macro
// wrote, the proxy, but sees the extensions that macros write: a conformer in one of those keeps it from guessing.

/// The macro on proxies that the optimiser would overlook.
enum OtherConformerMacro {
    @Sendable
    static func expand(_ request: ExpansionRequest) -> Expansion {
        Expansion(expandedSource: OtherConformer(ofProxy: request.declSyntax.source)?.source ?? "")
    }
}

/// A type without values that has the proxy's witnesses and none of their bodies. It is generic because the optimiser
/// never settles on a generic type, not even where the module has no other conformer.
struct OtherConformer {
    private var proxy: String
    private var service: String
    private var isClass: Bool
    private var isNonisolated: Bool
    private var attributes: [String]
    private var witnesses: [[String]] = []

    /// Nil when the source is not a proxy as `ServiceExpansion` writes it.
    init?(ofProxy source: String) {
        var parser = ProtocolParser(source)
        let head = parser.declarationHead()
        // The parser takes the 'class' of 'final class' for a modifier.
        isClass = head.modifiers.contains("class")
        isNonisolated = head.modifiers.contains("nonisolated")
        attributes = head.attributes.filter { $0.name != ServiceExpansion.seen }.map(\.spelling)
        guard isClass || parser.cursor.take("struct") else { return nil }
        proxy = parser.cursor.advance().text
        guard parser.cursor.take(":") else { return nil }
        service = parser.cursor.advance().text
        guard Self.skipToBody(&parser), parser.cursor.take("{") else { return nil }
        // The initialiser, with the members before it, and 'asService'.
        for _ in 0..<2 where !Self.skipToBody(&parser) || !parser.cursor.skipBrackets() { return nil }
        while let witness = witness(from: &parser) { witnesses.append(witness) }
    }

    /// The whole expansion.
    var source: String {
        let isolation = isNonisolated ? "nonisolated " : ""
        let kind = isClass ? "final class" : "enum"
        let conformer = SourceLines.block(
            "private \(isolation)\(kind) OtherConformer<Unused>: \(service)", SourceLines.paragraphs(witnesses))
        let comment =
            "/// Never made. It keeps the optimiser from taking the only conformer it sees for every '\(service)'."
        return (attributes + SourceLines.block("extension \(proxy)", [comment] + conformer)).joined(separator: "\n")
            + "\n"
    }

    /// The next witness; nil at the method table, the first static member.
    private func witness(from parser: inout ProtocolParser) -> [String]? {
        let declaration = parser.declarationHead()
        guard !declaration.modifiers.contains("static") else { return nil }
        let start = parser.cursor.index
        let isProperty = parser.cursor.isAt("var")
        guard isProperty || parser.cursor.isAt("func"), Self.skipToBody(&parser) else { return nil }
        let head = (declaration.modifiers + [parser.cursor.source(since: start)]).joined(separator: " ")
        guard parser.cursor.skipBrackets() else { return nil }
        // In the user's code, and never run: nobody can have an instance.
        let body = isClass ? "Swift.fatalError()" : "switch self {}"
        return declaration.attributes.map(\.spelling)
            + SourceLines.block(head, [isProperty ? "get async throws { \(body) }" : body])
    }

    private static func skipToBody(_ parser: inout ProtocolParser) -> Bool {
        while !parser.cursor.isAtEnd, !parser.cursor.isAt("{") { parser.cursor.advance() }
        return !parser.cursor.isAtEnd
    }
}
