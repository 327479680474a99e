// Writes what a service offers to the services that refine it. `@Service` sees only the text of its own protocol. So the
// protocol's own expansion has what the proxy of a refining service needs: an extension for all proxies that conform to it.

/// Writes the extension of a protocol.
struct RefinementExpansion {
    private let model: ProtocolModel

    init(_ model: ProtocolModel) { self.model = model }

    /// The whole expansion.
    var source: SourceText {
        return """
            \(model.attributes)
            extension \(model.name) where Self: RemoteProxy.ServiceProxy {
                \(model.memberAccess)nonisolated static func _inherit(
                    _ base: (any \(model.name)).Type, _ upcast: @escaping @Sendable (ProxiedService) -> \(model.service)
                ) -> RemoteProxy._InheritedMethods<ProxiedService>? {
                    .init(of: \(model.proxyName).self, by: Self.self, upcast)
                }

                \(paragraphs: WitnessExpansion(model, for: .refinements).witnesses)
            }
            """
    }
}
