// The macros of the package. Each turns a request of the compiler into source and messages.

/// All macros that the plugin can expand.
enum Macros {
    /// By the names in `#externalMacro(module:type:)`.
    static let all: [String: @Sendable (ExpansionRequest) -> Expansion] = [
        "ServiceMacro": service, "MarkMacro": mark, "OtherConformerMacro": otherConformer,
    ]

    /// `@Service`: writes a proxy, or refuses the protocol and writes a stub. As an extension, writes what refining services
    /// need.
    @Sendable
    static func service(_ request: ExpansionRequest) -> Expansion {
        let isExtension = request.macroRole == "extension"
        guard let syntax = ProtocolSyntax(request.declSyntax.source) else {
            return isExtension
                ? Expansion()
                : Expansion(refusals: [Refusal(message: "@Service can only be attached to a protocol")], of: request)
        }
        let rules = ProtocolRules(
            syntax, surroundings: (request.lexicalContext ?? []).map { EnclosingScope($0.source) },
            attribute: ServiceAttribute(request.attributeSyntax.source))
        if isExtension {
            // An extension of a nested protocol would not find the names of the types around it.
            let isRefinable = rules.refusals.isEmpty && (request.lexicalContext ?? []).isEmpty
            return Expansion(isRefinable ? ProxyExpansion(rules.model).refinement.text : "")
        }
        guard rules.refusals.isEmpty else {
            return Expansion(StubExpansion(rules.model).source.text, refusals: rules.refusals, of: request)
        }
        return Expansion(ProxyExpansion(rules.model).source.text)
    }

    /// `@ReadOnly` and `@Idempotent`: write nothing, since `@Service` reads them itself. Only their place is judged here,
    /// because `@Service` does not see marks outside its protocol.
    @Sendable
    static func mark(_ request: ExpansionRequest) -> Expansion {
        var declaration = TokenCursor(request.declSyntax.source)
        _ = DeclarationHead(from: &declaration)
        var surrounding = TokenCursor(request.lexicalContext?.first?.source ?? "")
        _ = DeclarationHead(from: &surrounding)
        if declaration.isAt("func") || declaration.isAt("var"), surrounding.isAt("protocol") {
            return Expansion()
        }
        var attribute = TokenCursor(request.attributeSyntax.source)
        let name = AttributeSyntax(from: &attribute)?.name ?? "this"
        let message = "@\(name) can only be attached to a function or property of a protocol"
        return Expansion(refusals: [Refusal(message: message)], of: request)
    }

    /// `@_OtherConformer`, which `@Service` writes on proxies that the optimiser would overlook.
    @Sendable
    static func otherConformer(_ request: ExpansionRequest) -> Expansion {
        Expansion(OtherConformer(ofProxy: request.declSyntax.source)?.source.text ?? "")
    }
}

extension Expansion {
    /// With a message for each refusal, at its place in the user's file.
    init(_ source: String = "", refusals: [Refusal], of request: ExpansionRequest) {
        let attribute = request.attributeSyntax
        // The attribute's source begins with the blanks and comments before it.
        let attributeOffset = TokenCursor(attribute.source).offset
        self.init(
            source,
            diagnostics: refusals.map { refusal in
                let location = refusal.offset == nil ? attribute.location : request.declSyntax.location
                return Diagnostic(
                    message: refusal.message,
                    position: ExpansionRequest.Location(
                        fileName: location?.fileName ?? "",
                        offset: (location?.offset ?? 0) + (refusal.offset ?? attributeOffset)))
            })
    }
}
