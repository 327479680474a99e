// The method table and the argument structs. The client, the server and every local proxy work from them.

/// Writes the part of a proxy that describes its methods.
struct MethodTableExpansion {
    private static let comparison = "RemoteProxy.ArgumentComparison"

    private let model: ProtocolModel
    private var access: String { model.access.ofMembers }
    private var service: String { model.service }
    private var methodsName: String { model.methodsName }

    init(_ model: ProtocolModel) { self.model = model }

    /// The list of all methods.
    var table: [String] {
        let documentation = "/// All methods of the service, in the order of declaration."
        let head = "\(access)nonisolated static let methodTable = RemoteProxy.MethodTable<\(service)>("
        let description = "    \(methodsName).\(model.descriptionName), "
        let entries = model.requirements.map { "\(methodsName).\($0.entryName)" }
        let isConditional = model.requirements.contains { $0.availability.contains { $0.condition != nil } }
        let list =
            isConditional
            ? SourceLines.block(description, conditionalEntries + ["return entries"]).dropLast() + ["}())"]
            : [description + "[" + entries.joined(separator: ", ") + "])"]
        return [documentation] + deprecation + [head] + list
    }

    /// A table that lists deprecated methods would warn, unless it were deprecated itself. It is reached through
    /// `ServiceProxy`, where that is not seen.
    private var deprecation: [String] {
        guard model.requirements.contains(where: { $0.availability.contains(where: \.isDeprecated) }) else { return [] }
        return [#"@available(*, deprecated, message: "It lists deprecated methods.")"#]
    }

    private var conditionalEntries: [String] {
        let list = "var entries: [any RemoteProxy.ServiceMethod<\(service)>] = []"
        return [list]
            + model.requirements.map { requirement in
                let appending = "entries.append(\(methodsName).\(requirement.entryName))"
                return requirement.availability.compactMap(\.condition).reversed().reduce(appending) {
                    "if #available(\($1)) { \($0) }"
                }
            }
    }

    /// The methods one by one, and the types of their arguments.
    var methods: [String] {
        let entries = model.requirements.map(entry)
        let arguments = model.requirements.filter { !$0.parameters.isEmpty }.map(argumentStruct)
        return ["/// The methods of \(model.plainName), typed."]
            + SourceLines.block(
                "\(access)nonisolated enum \(methodsName)",
                SourceLines.paragraphs([[description]] + entries + arguments))
    }

    private var description: String {
        let list = model.errors.map { "\(SwiftName.literal($0.type)): \($0.expression)" }.joined(separator: ", ")
        let errors = list.isEmpty ? "" : ", errors: [\(list)]"
        let name = SwiftName.literal(model.wireName)
        return "static let \(model.descriptionName) = RemoteProxy.ServiceDescription(\(name)\(errors))"
    }

    private func entry(of requirement: Requirement) -> [String] {
        let arguments = requirement.parameters.isEmpty ? "RemoteProxy.NoArguments" : requirement.argumentsName
        let type =
            switch requirement.shape {
            case .call: "Method<\(service), \(arguments), \(requirement.result ?? "RemoteProxy.NoResult")>"
            case .post: "Post<\(service), \(arguments)>"
            }
        let documentation = "/// `\(requirement.fullName)` of \(model.plainName)."
        let head = "\(access)static let \(requirement.entryName) = RemoteProxy.\(type)("
        var facts = ["    \(facts(of: requirement))"]
        if requirement.shape == .post {
            facts = [facts[0] + ",", "    proxy: { \(model.proxyName)(subject: $0).asService }"]
        }
        return [documentation] + requirement.availability.map(\.spelling) + [head] + facts.dropLast()
            + SourceLines.block(facts[facts.count - 1] + ")", invocation(of: requirement))
    }

    /// The name, and what discovery tells about the method.
    private func facts(of requirement: Requirement) -> String {
        var facts = [SwiftName.literal(requirement.wireName), "of: \(model.descriptionName)"]
        if !requirement.parameters.isEmpty {
            let list = requirement.parameters.map {
                ".init(\(SwiftName.literal($0.name)), \(SwiftName.literal($0.type)))"
            }
            facts.append("parameters: [\(list.joined(separator: ", "))]")
        }
        if let result = requirement.result { facts.append("result: \(SwiftName.literal(result))") }
        if let mark = requirement.mark { facts.append("effect: .\(mark.effect)") }
        return facts.joined(separator: ", ")
    }

    /// The body of the closure that calls the real object.
    ///
    /// A post is called through a value of an async function type. Whether it is isolated to an actor, and so needs
    /// `await`, only the compiler knows. Converting it to that type is right either way and brings no warning.
    private func invocation(of requirement: Requirement) -> [String] {
        let head = requirement.parameters.isEmpty ? "service, _ in" : "service, arguments in"
        if requirement.shape == .post {
            let labels = requirement.parameters.map { ($0.label.map(SwiftName.label) ?? "_") + ":" }.joined()
            let types = requirement.parameters.map(\.type).joined(separator: ", ")
            let reference = labels.isEmpty ? requirement.spelling : "\(requirement.spelling)(\(labels))"
            let values = requirement.parameters.map { "arguments.\($0.spelling)" }.joined(separator: ", ")
            return [
                head, "let deliver: (\(types)) async -> Void = service.\(reference)", "await deliver(\(values))",
            ]
        }
        let arguments = requirement.isProperty ? "" : "(\(requirement.arguments("arguments.")))"
        let call = "try await service.\(requirement.spelling)\(arguments)"
        return [head, call] + (requirement.result == nil ? ["return RemoteProxy.NoResult()"] : [])
    }

    private func argumentStruct(of requirement: Requirement) -> [String] {
        let parameters = requirement.parameters
        let memberwise = parameters.map(\.memberwise.declaration).joined(separator: ", ")
        return ["/// The arguments of `\(requirement.fullName)`."]
            + SourceLines.block(
                "\(access)struct \(requirement.argumentsName): RemoteProxy.MethodArguments",
                SourceLines.paragraphs([
                    parameters.map { "\(access)let \($0.spelling): \($0.type)" },
                    SourceLines.block(
                        "\(access)init(\(memberwise))", parameters.map { "self.\($0.spelling) = \($0.spelling)" }),
                    SourceLines.block(
                        "\(access)init(from reader: inout RemoteProxy.ArgumentReader) throws",
                        parameters.map { "self.\($0.spelling) = try reader.next(\(SwiftName.literal($0.name)))" }),
                    SourceLines.block(
                        "\(access)func write(to writer: inout RemoteProxy.ArgumentWriter) throws",
                        parameters.map { "try writer.write(self.\($0.spelling))" }),
                    SourceLines.block(
                        "\(access)static func == (one: Self, other: Self) -> Swift.Bool",
                        parameters.map(Self.sameness) + ["return true"]),
                    SourceLines.block(
                        "\(access)func hash(into hasher: inout Swift.Hasher)",
                        parameters.map { "\(Self.comparison).hash(self.\($0.spelling), into: &hasher)" }),
                ]))
    }

    /// Not synthesised: there may be arguments that have no `==`. Each has a statement of its own, since the compiler needs
    /// long for one that has many overloads in it.
    private static func sameness(of parameter: Requirement.Parameter) -> String {
        "if !\(comparison).isSame(one.\(parameter.spelling), other.\(parameter.spelling)) { return false }"
    }
}
