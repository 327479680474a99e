// The request for one `@Service` in, the source of the proxy and the messages out. Judges first, writes last.

/// The macro `@Service`.
enum ServiceMacro {
    @Sendable
    static func expand(_ request: ExpansionRequest) -> Expansion {
        var parser = ProtocolParser(request.declSyntax.source)
        guard let syntax = parser.parse() else {
            return Expansion(expandedSource: "", diagnostics: [.init(.notAProtocol(), in: request)])
        }
        var rules = ServiceRules(syntax)
        let model = rules.model(
            surroundings: (request.lexicalContext ?? []).map { EnclosingScope($0.source) },
            attribute: ServiceAttribute(request.attributeSyntax.source))
        if rules.diagnostics.isEmpty { return Expansion(expandedSource: ServiceExpansion(model).source) }
        return Expansion(
            expandedSource: ServiceStub(syntax: syntax, model: model).source,
            diagnostics: rules.diagnostics.map { .init($0, in: request) })
    }
}

extension Expansion.Diagnostic {
    /// A message at its place in the user's file.
    init(_ diagnostic: MacroDiagnostic, in request: ExpansionRequest) {
        let (location, offset) =
            switch diagnostic.place {
            case .declaration(let offset): (request.declSyntax.location, offset)
            // Its source begins with the blanks and comments before it.
            case .attribute:
                (
                    request.attributeSyntax.location,
                    TokenCursor(request.attributeSyntax.source).current.range.lowerBound
                )
            }
        self.init(
            message: diagnostic.message,
            position: .init(fileName: location?.fileName ?? "", offset: (location?.offset ?? 0) + offset))
    }
}

/// A declaration around the protocol.
struct EnclosingScope {
    /// An extension may say what its members are.
    var defaultAccess: ProtocolModel.Access?
    /// Whether no other module sees what is inside. Of an extension only the compiler knows.
    var isHidden: Bool

    init(_ source: String) {
        var parser = ProtocolParser(source)
        let head = parser.declarationHead()
        let access = head.modifiers.lazy.compactMap(ProtocolModel.Access.init).first
        let isExtension = parser.cursor.isAt("extension")
        let isVisible =
            access == .public || access == .package || head.modifiers.contains("open")
            || head.attributes.contains { $0.name == "usableFromInline" }
        defaultAccess = isExtension ? access : nil
        isHidden = !isExtension && !isVisible
    }
}
