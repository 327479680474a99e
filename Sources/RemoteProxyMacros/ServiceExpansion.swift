// A model in, the source of its proxy out: one method per generated item. The plugin's half of the border described in
// RemoteProxy/GeneratedCode.swift.

/// Writes the proxy of a protocol.
struct ServiceExpansion {
    let model: ProtocolModel
    private var access: String { model.access.ofMembers }
    private var service: String { "any \(model.name)" }
    private var methods: String { model.names.methods }

    init(_ model: ProtocolModel) { self.model = model }

    /// The whole expansion.
    var source: String {
        let witnesses = model.requirements.map(witness)
        let members = [subject] + witnesses + [methodTable, methodList]
        return (head + SourceLines.block(declaration, SourceLines.paragraphs(members))).joined(separator: "\n") + "\n"
    }

    /// What stands before the proxy's declaration.
    var head: [String] {
        var lines = model.documentation + model.attributes
        if !model.inherited.isEmpty {
            lines += [
                "// @Service sees only the text of '\(SwiftName.plain(model.name))'. If a requirement is missing here, it comes from",
                "// \(model.inherited.joined(separator: ", ")): inherited protocols must have no requirements of their own.",
            ]
        }
        return lines
    }

    /// The first line of the proxy.
    var declaration: String {
        let isolation = model.isNonisolated ? "nonisolated " : ""
        let kind = model.isClass ? "final class" : "struct"
        return "\(model.access.ofType)\(isolation)\(kind) \(model.proxyName): \(model.name), RemoteProxy.ServiceProxy"
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
        let lines = requirement.documentation + requirement.attributes
        switch requirement.shape {
        case .call where requirement.isProperty: return lines + propertyWitness(requirement)
        case .call: return lines + callWitness(requirement)
        case .post: return lines + postWitness(requirement)
        }
    }

    private func propertyWitness(_ requirement: Requirement) -> [String] {
        let head = "\(access)nonisolated(nonsending) var \(requirement.name): \(requirement.result ?? "")"
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
        let now = "{ $0.\(requirement.name)(\(arguments(requirement, from: ""))) }"
        return SourceLines.block(
            "\(access)\(requirement.isNonisolated ? "nonisolated " : "")func \(signature(requirement))",
            ["self.proxySubject.post(\(entry), \(argumentsValue(requirement))) \(now)"])
    }

    private func call(_ requirement: Requirement) -> String {
        "self.proxySubject.call(Self.\(methods).\(requirement.entryName), \(argumentsValue(requirement)))"
    }

    private func argumentsValue(_ requirement: Requirement) -> String {
        guard !requirement.parameters.isEmpty else { return "RemoteProxy.NoArguments()" }
        let values = requirement.parameters.map { "\($0.name): \($0.name)" }.joined(separator: ", ")
        return "Self.\(methods).\(requirement.argumentsName)(\(values))"
    }

    private func signature(_ requirement: Requirement) -> String {
        let parameters = requirement.parameters.map { parameter in
            let label = parameter.label ?? "_"
            let names = label == parameter.name ? label : "\(label) \(parameter.name)"
            return "\(names): \(parameter.type)"
        }
        return "\(requirement.name)(\(parameters.joined(separator: ", ")))"
    }

    /// The arguments of a call to the real object.
    private func arguments(_ requirement: Requirement, from source: String) -> String {
        requirement.parameters.map { parameter in
            (parameter.label.map { "\($0): " } ?? "") + source + parameter.name
        }.joined(separator: ", ")
    }
}

// The method table.
extension ServiceExpansion {
    private var methodTable: [String] {
        let entries = model.requirements.map { "\(methods).\($0.entryName)" }.joined(separator: ", ")
        return [
            "/// All methods of the service, in the order of declaration.",
            "\(access)nonisolated static let methodTable = RemoteProxy.MethodTable<\(service)>(",
            "    \(methods).\(model.names.service), [\(entries)])",
        ]
    }

    private var methodList: [String] {
        let entries = model.requirements.map(entry)
        let arguments = model.requirements.filter { !$0.parameters.isEmpty }.map(argumentStruct)
        return ["/// The methods of \(SwiftName.plain(model.name)), typed."]
            + SourceLines.block(
                "\(access)nonisolated enum \(methods)", SourceLines.paragraphs([[description]] + entries + arguments))
    }

    private var description: String {
        let errors = model.errors.isEmpty ? "" : ", errors: [\(model.errors.joined(separator: ", "))]"
        let name = SwiftName.literal(SwiftName.plain(model.name))
        return "static let \(model.names.service) = RemoteProxy.ServiceDescription(\(name)\(errors))"
    }

    private func entry(of requirement: Requirement) -> [String] {
        let arguments = requirement.parameters.isEmpty ? "RemoteProxy.NoArguments" : requirement.argumentsName
        let type =
            switch requirement.shape {
            case .call: "Method<\(service), \(arguments), \(requirement.result ?? "RemoteProxy.NoResult")>"
            case .post: "Post<\(service), \(arguments)>"
            }
        let documentation = "/// `\(requirement.fullName)` of \(SwiftName.plain(model.name))."
        let head = "\(access)static let \(requirement.entryName) = RemoteProxy.\(type)("
        let facts = "    \(self.facts(of: requirement)))"
        return [documentation, head] + SourceLines.block(facts, invocation(of: requirement))
    }

    /// The name and what discovery tells about the method.
    private func facts(of requirement: Requirement) -> String {
        var facts = [SwiftName.literal(requirement.wireName), "of: \(model.names.service)"]
        if !requirement.parameters.isEmpty {
            let list = requirement.parameters.map {
                ".init(\(SwiftName.literal($0.wireName)), \(SwiftName.literal($0.type)))"
            }
            facts.append("parameters: [\(list.joined(separator: ", "))]")
        }
        if let result = requirement.result { facts.append("result: \(SwiftName.literal(result))") }
        return facts.joined(separator: ", ")
    }

    /// The body of the closure that calls the real object.
    ///
    /// A post is called through a value of an async function type. Whether it is isolated to an actor, and so needs
    /// `await`, only the compiler knows; converting it to that type is right either way and brings no warning.
    private func invocation(of requirement: Requirement) -> [String] {
        let arguments = requirement.isProperty ? "" : "(\(self.arguments(requirement, from: "arguments.")))"
        let invocation = "service.\(requirement.name)\(arguments)"
        let head = requirement.parameters.isEmpty ? "service, _ in" : "service, arguments in"
        switch requirement.shape {
        case .post:
            let labels = requirement.parameters.map { "\($0.label ?? "_"):" }.joined()
            let types = requirement.parameters.map(\.type).joined(separator: ", ")
            let reference = labels.isEmpty ? requirement.name : "\(requirement.name)(\(labels))"
            let values = requirement.parameters.map { "arguments.\($0.name)" }.joined(separator: ", ")
            return [
                head, "let deliver: (\(types)) async -> Void = service.\(reference)", "await deliver(\(values))",
            ]
        case .call where requirement.result != nil: return [head, "try await \(invocation)"]
        case .call: return [head, "try await \(invocation)", "return RemoteProxy.NoResult()"]
        }
    }

    private func argumentStruct(of requirement: Requirement) -> [String] {
        let parameters = requirement.parameters
        let memberwise = parameters.map { "\($0.name): \($0.type)" }.joined(separator: ", ")
        return ["/// The arguments of `\(requirement.fullName)`."]
            + SourceLines.block(
                "\(access)struct \(requirement.argumentsName): RemoteProxy.MethodArguments",
                SourceLines.paragraphs([
                    parameters.map { "\(access)let \($0.name): \($0.type)" },
                    SourceLines.block(
                        "\(access)init(\(memberwise))", parameters.map { "self.\($0.name) = \($0.name)" }),
                    SourceLines.block(
                        "\(access)init(from reader: inout RemoteProxy.ArgumentReader) throws",
                        parameters.map { "self.\($0.name) = try reader.next(\(SwiftName.literal($0.wireName)))" }),
                    SourceLines.block(
                        "\(access)func write(to writer: inout RemoteProxy.ArgumentWriter) throws",
                        parameters.map { "try writer.write(self.\($0.name))" }),
                ]))
    }
}
