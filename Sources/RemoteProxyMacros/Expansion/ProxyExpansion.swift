// Writes the source of a proxy from a model: one member here for each generated item. `GeneratedCode.swift` of RemoteProxy
// lists what the generated source calls.

/// Writes the proxy of a protocol, and the extension for what refines it.
struct ProxyExpansion {
    private let model: ProtocolModel
    private var access: String { model.memberAccess }

    /// The attribute that asks for another conformer.
    static let otherConformer = "RemoteProxy._OtherConformer"

    init(_ model: ProtocolModel) { self.model = model }

    /// The proxy, beside the protocol.
    var source: SourceText {
        let table = MethodTableExpansion(model)
        return """
            \(model.syntax.head.documentation + model.attributes)
            \(model.isOverlooked ? ["@\(Self.otherConformer)"] : [])
            \(declaration()) {\(ruleOfInheritance)
                \(subject())

                \(paragraphs: WitnessExpansion(model, for: .proxy).witnesses)

                \(paragraphs: [table.table, weakProxy, methodNames, table.methods])
            }
            """
    }

    /// What the service offers to the services that refine it, as an extension for all proxies that conform to it: `@Service` sees only
    /// the text of its own protocol.
    var refinement: SourceText {
        """
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

    /// The compiler shows the line that this ends when the proxy lacks a requirement of an inherited protocol, whose text the
    /// macro cannot see.
    private var ruleOfInheritance: String {
        if model.inherited.isEmpty { return "" }
        return
            "  // \(model.inherited.joined(separator: ", ")): a protocol with requirements needs @Service too. What two of them "
            + "require has to be declared in '\(model.plainName)'."
    }

    /// The first line of the proxy.
    func declaration(conforms: Bool = true) -> String {
        let modifiers = model.syntax.head.modifiers
        // The extension around a protocol may give its access. The proxy then need not repeat it.
        let access = ProtocolModel.Access(modifiers).map { $0 == .internal ? "" : "\($0.rawValue) " } ?? ""
        let isolation = modifiers.contains("nonisolated") ? "nonisolated " : ""
        let kind = model.isClass ? "final class" : "struct"
        let conformance = conforms ? "\(model.name), " : ""
        return "\(access)\(isolation)\(kind) \(model.proxyName): \(conformance)RemoteProxy.ServiceProxy"
    }

    /// The requirements of `ServiceProxy`. They are never isolated, even if the protocol is: a proxy can be made and passed on
    /// everywhere.
    func subject(asService: String = "self") -> SourceText {
        let subject = "any RemoteProxy.Subject<\(model.service)>"
        return """
            \(access)typealias ProxiedService = \(model.service)
            \(access)nonisolated let proxySubject: \(subject)
            \(access)nonisolated init(subject: \(subject)) { self.proxySubject = subject }
            \(access)nonisolated var asService: \(model.service) { \(asService) }
            """
    }

    /// A static function beside a requirement of that name is no conflict.
    private var weakProxy: SourceText {
        return """
            /// A proxy that does not keep its object alive. When the object is gone, calls throw `RPCError` with the
            /// code `.noSuchObject` and posts vanish.
            \(access)nonisolated static func weak(_ object: \(model.service) & Swift.AnyObject) -> Self {
                weak let object = object
                return Self(
                    subject: RemoteProxy._WeakSubject<\(model.service)> {
                        guard let object else { throw RemoteProxy._ObjectIsGone() }
                        return object
                    })
            }
            """
    }

    /// A type of the proxy's own, so that a method is named with a leading dot. Types are qualified, since the protocol
    /// may have others of that name.
    var methodNames: SourceText {
        return """
            /// The names of \(model.plainName)'s methods, for code that names one without calling it.
            \(access)nonisolated struct MethodName: RemoteProxy.ServiceMethodName {
                \(access)let name: Swift.String
                \(access)init(name: Swift.String) { self.name = name }

                \(paragraphs: model.requirements.map(methodName))
            }
            """
    }

    private func methodName(of requirement: Requirement) -> SourceText {
        return """
            /// `\(requirement.fullName)`.
            \(requirement.availability.map(\.spelling))
            \(access)static var \(requirement.entryName): Self { Self(name: \(SwiftName.literal(requirement.wireName))) }
            """
    }
}
