// Writes the source of a proxy from a model: one member here for each generated item. `GeneratedCode.swift` of RemoteProxy
// lists what the generated source calls.

/// Writes the proxy of a protocol.
struct ProxyExpansion {
    private let model: ProtocolModel
    private var access: String { model.memberAccess }

    /// The attribute that asks for another conformer.
    static let otherConformer = "RemoteProxy._OtherConformer"

    init(_ model: ProtocolModel) { self.model = model }

    /// The whole expansion.
    var source: SourceText {
        let table = MethodTableExpansion(model)
        return """
            \(model.syntax.head.documentation + model.attributes)
            \(model.isOverlooked ? ["@\(Self.otherConformer)"] : [])
            \(warning)
            \(declaration()) {
                \(subject())

                \(paragraphs: model.requirements.map(witness))

                \(paragraphs: [table.table, weakProxy, methodNames, table.methods])
            }
            """
    }

    private var warning: SourceText {
        if model.inherited.isEmpty { return SourceText([]) }
        return """
            // @Service sees only the text of '\(model.plainName)'. If a requirement is missing here, it is
            // one of \(model.inherited.joined(separator: ", ")): inherited protocols must have no requirements of their own.
            """
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

    private func witness(of requirement: Requirement) -> SourceText {
        let head = requirement.member.head
        let method = "Self.\(model.methodsName).\(requirement.entryName), \(argumentsValue(requirement))"
        let call = "try await self.proxySubject._call(\(method))"
        let name = requirement.spelling
        let signature = "\(name)(\(requirement.parameters.map(\.declaration).joined(separator: ", ")))"
        let result = requirement.result ?? ""
        let witness: SourceText
        if requirement.isProperty {
            witness = """
                \(access)nonisolated(nonsending) var \(name): \(result) {
                    get async throws {
                        \(call)
                    }
                }
                """
        } else if requirement.isAsyncPost {
            witness = """
                \(access)nonisolated(nonsending) func \(signature) async {
                    await self.proxySubject._post(\(method))
                }
                """
        } else if requirement.isPost {
            // Has the isolation of the requirement, so that an object on the same actor is called directly.
            let isolation = head.modifiers.contains("nonisolated") ? "nonisolated " : ""
            witness = """
                \(access)\(isolation)func \(signature) {
                    self.proxySubject.post(\(method)) { $0.\(name)(\(requirement.arguments())) }
                }
                """
        } else if result.isEmpty {
            witness = """
                \(access)nonisolated(nonsending) func \(signature) async throws {
                    _ = \(call)
                }
                """
        } else {
            witness = """
                \(access)nonisolated(nonsending) func \(signature) async throws -> \(result) {
                    \(call)
                }
                """
        }
        return """
            \(head.documentation + requirement.availability.map(\.spelling) + requirement.attributes)
            \(witness)
            """
    }

    private func argumentsValue(_ requirement: Requirement) -> String {
        guard !requirement.parameters.isEmpty else { return "RemoteProxy.NoArguments()" }
        let values = requirement.parameters.map { "\(SwiftName.label($0.name)): \($0.spelling)" }
        return "Self.\(model.methodsName).\(requirement.argumentsName)(\(values.joined(separator: ", ")))"
    }

    /// A static function beside a requirement of that name is no conflict.
    private var weakProxy: SourceText {
        return """
            /// A proxy that does not keep its object alive. When the object is gone, calls throw `RPCError` with the
            /// code `.subjectGone` and posts vanish.
            \(access)nonisolated static func weak(_ object: \(model.service) & Swift.AnyObject) -> Self {
                Self(subject: RemoteProxy.WeakSubject<\(model.service)> { [weak object] in object })
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
            \(access)static let \(requirement.entryName) = Self(name: \(SwiftName.literal(requirement.wireName)))
            """
    }
}
