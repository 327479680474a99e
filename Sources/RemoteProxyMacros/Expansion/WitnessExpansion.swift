// Writes the members by which a proxy conforms to its protocol: each forwards a requirement.

/// Writes witnesses.
struct WitnessExpansion {
    /// Whose proxy has the witnesses.
    enum Owner {
        /// The proxy of the protocol itself.
        case proxy
        /// The proxies of services that refine the protocol.
        case refinements
    }

    private let model: ProtocolModel
    private let owner: Owner
    private var access: String { model.memberAccess }

    init(_ model: ProtocolModel, for owner: Owner) {
        self.model = model
        self.owner = owner
    }

    var witnesses: [SourceText] { model.requirements.map(witness) }

    /// The enum of the protocol's methods.
    private var methods: String { "\(owner == .proxy ? "Self" : model.proxyName).\(model.methodsName)" }
    /// What a method is given to be called through: the subject of the proxy, or a proxy that inherits the method.
    private var way: String { owner == .proxy ? "self.proxySubject" : "inheritedBy: self" }

    private func witness(of requirement: Requirement) -> SourceText {
        let head = requirement.member.head
        let method = "\(methods).\(requirement.entryName)"
        // A member of the method, so that an error in the method's declaration is the only one.
        let call = "try await \(method)._call(\(way), \(argumentsValue(requirement)))"
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
                    await \(method)._post(\(way), \(argumentsValue(requirement)))
                }
                """
        } else if requirement.isPost {
            // Has the isolation of the requirement, so that an object on the same actor is called directly.
            let isolation = head.modifiers.contains("nonisolated") ? "nonisolated " : ""
            witness = """
                \(access)\(isolation)func \(signature) {
                    \(method)._post(\(way), \(argumentsValue(requirement))) { $0.\(name)(\(requirement.arguments())) }
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
            \(owner == .proxy ? head.documentation : isolation(of: requirement))
            \(requirement.availability.map(\.spelling) + requirement.attributes)
            \(witness)
            """
    }

    /// The attributes that may name a global actor, for a post; `@MainActor` is written with the other attributes. The compiler
    /// infers them for the protocol's own proxy only.
    private func isolation(of requirement: Requirement) -> [String] {
        guard requirement.isPost, !requirement.isAsyncPost else { return [] }
        let others = ["available", "discardableResult", "ReadOnly", "Idempotent"]
        return requirement.member.head.attributes.filter {
            !$0.isMainActor && !others.contains(String($0.name.trimmingPrefix("RemoteProxy.")))
        }.map(\.spelling)
    }

    /// All arguments as one value.
    private func argumentsValue(_ requirement: Requirement) -> String {
        let parameters = requirement.parameters
        if parameters.count == 1 { return parameters[0].spelling }
        return "(\(parameters.map { "\(SwiftName.label($0.name)): \($0.spelling)" }.joined(separator: ", ")))"
    }
}
