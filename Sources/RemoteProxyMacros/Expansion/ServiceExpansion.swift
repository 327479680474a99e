// A model in, the source of its proxy out: one method per generated item. The plugin's half of the border described in
// RemoteProxy/GeneratedCode.swift.

/// Writes the proxy of a protocol.
struct ServiceExpansion {
    let model: ProtocolModel
    var access: String { model.access.ofMembers }
    var service: String { "any \(model.name)" }
    var methods: String { model.names.methods }

    /// The attribute of proxies that need another conformer.
    static let seen = "RemoteProxy._OtherConformer"

    /// Types that every proxy has, and that hide what a protocol's text means by the same name.
    static let memberTypes: Set<String> = ["MethodName", "ProxiedService"]

    init(_ model: ProtocolModel) { self.model = model }

    /// The whole expansion.
    var source: String {
        let witnesses = model.requirements.map(witness)
        let members = [subject] + witnesses + [methodTable, weakProxy, methodNames, methodList]
        return (head + SourceLines.block(declaration(conforms: true), SourceLines.paragraphs(members))).joined(
            separator: "\n") + "\n"
    }

    /// What stands before the proxy's declaration.
    var head: [String] {
        var lines = model.documentation + model.attributes + (model.isOverlooked ? ["@\(Self.seen)"] : [])
        if !model.inherited.isEmpty {
            let names = model.inherited.joined(separator: ", ")
            lines += [
                "// @Service sees only the text of '\(SwiftName.plain(model.name))'. If a requirement is missing here, it is",
                "// one of \(names): inherited protocols must have no requirements of their own.",
            ]
        }
        return lines
    }

    /// The first line of the proxy.
    func declaration(conforms: Bool) -> String {
        let access = model.inheritsAccess || model.access == .internal ? "" : "\(model.access.rawValue) "
        let conformance = conforms ? "\(model.name), " : ""
        let isolation = model.isNonisolated ? "nonisolated " : ""
        let kind = model.isClass ? "final class" : "struct"
        return "\(access)\(isolation)\(kind) \(model.proxyName): \(conformance)RemoteProxy.ServiceProxy"
    }

    /// What `ServiceProxy` asks for. Not isolated, whatever the protocol is: anybody may make and pass on a proxy.
    private var subject: [String] {
        [
            "\(access)typealias ProxiedService = \(service)",
            "\(access)nonisolated let proxySubject: any RemoteProxy.Subject<\(service)>",
            "\(access)nonisolated init(subject: any RemoteProxy.Subject<\(service)>) { self.proxySubject = subject }",
            "\(access)nonisolated var asService: \(service) { self }",
        ]
    }

    private func witness(of requirement: Requirement) -> [String] {
        let lines = requirement.documentation + requirement.availability + requirement.attributes
        switch requirement.shape {
        case .call where requirement.isProperty: return lines + propertyWitness(requirement)
        case .call: return lines + callWitness(requirement)
        case .post: return lines + postWitness(requirement)
        }
    }

    private func propertyWitness(_ requirement: Requirement) -> [String] {
        let head = "\(access)nonisolated(nonsending) var \(requirement.spelling): \(requirement.result ?? "")"
        return SourceLines.block(head, SourceLines.block("get async throws", ["try await \(call(requirement))"]))
    }

    private func callWitness(_ requirement: Requirement) -> [String] {
        let result = requirement.result.map { " -> \($0)" } ?? ""
        let head = "\(access)nonisolated(nonsending) func \(signature(requirement)) async throws\(result)"
        let discard = requirement.result == nil ? "_ = " : ""
        return SourceLines.block(head, ["\(discard)try await \(call(requirement))"])
    }

    /// Isolated as the requirement is, so that an object on the same actor is called in place.
    private func postWitness(_ requirement: Requirement) -> [String] {
        let entry = "Self.\(methods).\(requirement.entryName)"
        let now = "{ $0.\(requirement.spelling)(\(arguments(requirement, from: ""))) }"
        return SourceLines.block(
            "\(access)\(requirement.isNonisolated ? "nonisolated " : "")func \(signature(requirement))",
            ["self.proxySubject.post(\(entry), \(argumentsValue(requirement))) \(now)"])
    }

    private func call(_ requirement: Requirement) -> String {
        "self.proxySubject._call(Self.\(methods).\(requirement.entryName), \(argumentsValue(requirement)))"
    }

    private func argumentsValue(_ requirement: Requirement) -> String {
        guard !requirement.parameters.isEmpty else { return "RemoteProxy.NoArguments()" }
        let values = requirement.parameters.map { "\(SwiftName.label($0.name)): \($0.spelling)" }.joined(
            separator: ", ")
        return "Self.\(methods).\(requirement.argumentsName)(\(values))"
    }

    private func signature(_ requirement: Requirement) -> String {
        "\(requirement.spelling)(\(requirement.parameters.map(\.declaration).joined(separator: ", ")))"
    }

    /// The arguments of a call to the real object.
    func arguments(_ requirement: Requirement, from source: String) -> String {
        requirement.parameters.map { parameter in
            (parameter.label.map { "\(SwiftName.label($0)): " } ?? "") + source + parameter.spelling
        }.joined(separator: ", ")
    }
}
