// The macros of the package: the request of the compiler in, the source and the messages out.

/// All macros that the plugin can expand.
enum Macros {
    /// By the names in `#externalMacro(module:type:)`.
    static let all: [String: @Sendable (ExpansionRequest) -> Expansion] = [
        "ServiceMacro": service, "MarkMacro": mark, "OtherConformerMacro": otherConformer,
    ]

    /// `@Service`: writes a proxy, or refuses the protocol and writes a stub.
    @Sendable
    static func service(_ request: ExpansionRequest) -> Expansion {
        guard let syntax = ProtocolSyntax(request.declSyntax.source) else {
            return Expansion(
                expandedSource: "", diagnostics: [.init(Refusal(ofAttribute: "@Service", .notAProtocol), in: request)])
        }
        var rules = ProtocolRules(syntax)
        let model = rules.model(
            surroundings: (request.lexicalContext ?? []).map { EnclosingScope($0.source) },
            attribute: ServiceAttribute(request.attributeSyntax.source))
        if rules.refusals.isEmpty { return Expansion(expandedSource: ProxyExpansion(model).source) }
        return Expansion(
            expandedSource: StubExpansion(syntax: syntax, model: model).source,
            diagnostics: rules.refusals.map { .init($0, in: request) })
    }

    /// `@ReadOnly` and `@Idempotent`: write nothing, since `@Service` reads them itself. Only their place is judged here,
    /// because `@Service` does not see a mark that stands elsewhere.
    @Sendable
    static func mark(_ request: ExpansionRequest) -> Expansion {
        var declaration = TokenCursor(request.declSyntax.source)
        _ = DeclarationHead(from: &declaration)
        var surrounding = TokenCursor(request.lexicalContext?.first?.source ?? "")
        _ = DeclarationHead(from: &surrounding)
        if declaration.isAt("func") || declaration.isAt("var"), surrounding.isAt("protocol") {
            return Expansion(expandedSource: "")
        }
        var attribute = TokenCursor(request.attributeSyntax.source)
        let name = AttributeSyntax(from: &attribute)?.name ?? "this"
        return Expansion(
            expandedSource: "", diagnostics: [.init(Refusal(ofAttribute: "@\(name)", .misplacedMark), in: request)])
    }

    /// `@_OtherConformer`, which `@Service` writes on proxies that the optimiser would overlook.
    @Sendable
    static func otherConformer(_ request: ExpansionRequest) -> Expansion {
        Expansion(expandedSource: OtherConformer(ofProxy: request.declSyntax.source)?.source ?? "")
    }
}

extension Expansion.Diagnostic {
    /// A message at its place in the user's file.
    init(_ refusal: Refusal, in request: ExpansionRequest) {
        let (location, offset) =
            switch refusal.place {
            case .declaration(let offset): (request.declSyntax.location, offset)
            // Its source begins with the blanks and comments before it.
            case .attribute:
                (
                    request.attributeSyntax.location,
                    TokenCursor(request.attributeSyntax.source).current.range.lowerBound
                )
            }
        self.init(
            message: refusal.message,
            position: .init(fileName: location?.fileName ?? "", offset: (location?.offset ?? 0) + offset))
    }
}
