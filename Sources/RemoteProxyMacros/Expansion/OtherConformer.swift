// Reads the source of a proxy and writes a second type that conforms to the same protocol. In whole-module release builds the
// optimiser assumes that every `any P` is the only conformer of P that it sees. It overlooks types that a peer macro wrote, such
// as the proxy, but not extensions that a macro wrote. A conformer in an extension prevents the wrong assumption.

/// A type without values that has the proxy's witnesses without their bodies. It is generic, because the optimiser never
/// assumes a generic type to be the only conformer.
struct OtherConformer {
    private let head: DeclarationHead
    private let proxy: String
    private let service: String
    /// Whether the proxy has witnesses from extensions, which hold for proxies only.
    private let inherits: Bool
    private var witnesses: [SourceText] = []
    // The 'class' of 'final class' has been read as a modifier.
    private var isClass: Bool { head.modifiers.contains("class") }

    /// Nil when the source is not a proxy as `ProxyExpansion` writes it.
    init?(ofProxy source: String) {
        var cursor = TokenCursor(source)
        head = DeclarationHead(from: &cursor)
        guard head.modifiers.contains("class") || cursor.take("struct") else { return nil }
        proxy = cursor.advance().text
        inherits = cursor.tokens.contains { $0.text == "inheriting" }
        guard cursor.take(":") else { return nil }
        service = cursor.advance().text
        cursor.skip(to: "{")
        guard cursor.take("{") else { return nil }
        // The initialiser, with the members before it, and 'asService'.
        for _ in 0..<2 {
            cursor.skip(to: "{")
            guard cursor.skipBrackets() else { return nil }
        }
        while let witness = witness(from: &cursor) { witnesses.append(witness) }
    }

    /// The whole expansion.
    var source: SourceText {
        let isolation = head.modifiers.contains("nonisolated") ? "nonisolated " : ""
        return """
            \(head.attributes.filter { $0.name != ProxyExpansion.otherConformer }.map(\.spelling))
            extension \(proxy) {
                /// Never made. It keeps the optimiser from taking the only conformer it sees for every '\(service)'.
                private \(isolation)\(isClass ? "final class" : "enum") OtherConformer<Unused>: \(conformances) {
                    \(paragraphs: members)
                }
            }
            """
    }

    private var conformances: String { inherits ? "\(service), RemoteProxy.ServiceProxy" : service }

    private var members: [SourceText] {
        guard inherits else { return witnesses }
        let subject = "any RemoteProxy.Subject<\(proxy).ProxiedService>"
        let members: SourceText = """
            typealias ProxiedService = \(proxy).ProxiedService
            typealias MethodName = \(proxy).MethodName
            nonisolated static var _methodTable: RemoteProxy._MethodTable<\(proxy).ProxiedService> { Swift.fatalError() }
            nonisolated var proxySubject: \(subject) { Swift.fatalError() }
            nonisolated var asService: \(proxy).ProxiedService { Swift.fatalError() }
            nonisolated init(subject: \(subject)) { Swift.fatalError() }
            """
        return [members] + witnesses
    }

    /// The next witness; nil at the method table, the first static member.
    private func witness(from cursor: inout TokenCursor) -> SourceText? {
        let declaration = DeclarationHead(from: &cursor)
        guard !declaration.modifiers.contains("static") else { return nil }
        let start = cursor.index
        let isProperty = cursor.isAt("var")
        guard isProperty || cursor.isAt("func") else { return nil }
        cursor.skip(to: "{")
        let signature = (declaration.modifiers + [cursor.source(since: start)]).joined(separator: " ")
        guard cursor.skipBrackets() else { return nil }
        // The body is part of the user's program, but never runs: the type has no instance.
        let body = isClass ? "Swift.fatalError()" : "switch self {}"
        return """
            \(declaration.attributes.map(\.spelling))
            \(signature) {
                \(isProperty ? "get async throws { \(body) }" : body)
            }
            """
    }
}
