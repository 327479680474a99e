// The method table and the argument structs: what the client, the server and every local proxy work from.

extension ServiceExpansion {
    var methodTable: [String] {
        let documentation = "/// All methods of the service, in the order of declaration."
        let head = "\(access)nonisolated static let methodTable = RemoteProxy.MethodTable<\(service)>("
        let service = "    \(methods).\(model.names.service), "
        let list =
            model.requirements.contains { !$0.conditions.isEmpty }
            ? SourceLines.block(service, conditionalEntries + ["return entries"]).dropLast() + ["}())"]
            : [service + "[" + model.requirements.map { "\(methods).\($0.entryName)" }.joined(separator: ", ") + "])"]
        return [documentation] + deprecation + [head] + list
    }

    /// A table that lists what is deprecated would warn, unless it were deprecated itself. It is reached through
    /// `ServiceProxy`, where nobody sees that.
    private var deprecation: [String] {
        guard model.requirements.contains(where: \.isDeprecated) else { return [] }
        return [#"@available(*, deprecated, message: "It lists deprecated methods.")"#]
    }

    private var conditionalEntries: [String] {
        let list = "var entries: [any RemoteProxy.ServiceMethod<\(service)>] = []"
        return [list]
            + model.requirements.map { requirement in
                let appending = "entries.append(\(methods).\(requirement.entryName))"
                return requirement.conditions.reversed().reduce(appending) { "if #available(\($1)) { \($0) }" }
            }
    }

    var methodList: [String] {
        let entries = model.requirements.map(entry)
        let arguments = model.requirements.filter { !$0.parameters.isEmpty }.map(argumentStruct)
        return ["/// The methods of \(SwiftName.plain(model.name)), typed."]
            + SourceLines.block(
                "\(access)nonisolated enum \(methods)", SourceLines.paragraphs([[description]] + entries + arguments))
    }

    private var description: String {
        let list = model.errors.map { "\(SwiftName.literal($0.type)): \($0.expression)" }.joined(separator: ", ")
        let errors = list.isEmpty ? "" : ", errors: [\(list)]"
        let name = SwiftName.literal(model.wireName)
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
        var facts = ["    \(facts(of: requirement))"]
        if requirement.shape == .post {
            facts = [facts[0] + ",", "    proxy: { \(model.proxyName)(subject: $0).asService }"]
        }
        return [documentation] + requirement.availability + [head] + facts.dropLast()
            + SourceLines.block(facts[facts.count - 1] + ")", invocation(of: requirement))
    }

    /// The name and what discovery tells about the method.
    private func facts(of requirement: Requirement) -> String {
        var facts = [SwiftName.literal(requirement.wireName), "of: \(model.names.service)"]
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
    /// `await`, only the compiler knows; converting it to that type is right either way and brings no warning.
    private func invocation(of requirement: Requirement) -> [String] {
        let arguments = requirement.isProperty ? "" : "(\(self.arguments(requirement, from: "arguments.")))"
        let invocation = "service.\(requirement.spelling)\(arguments)"
        let head = requirement.parameters.isEmpty ? "service, _ in" : "service, arguments in"
        switch requirement.shape {
        case .post:
            let labels = requirement.parameters.map { ($0.label.map(SwiftName.label) ?? "_") + ":" }.joined()
            let types = requirement.parameters.map(\.type).joined(separator: ", ")
            let reference = labels.isEmpty ? requirement.spelling : "\(requirement.spelling)(\(labels))"
            let values = requirement.parameters.map { "arguments.\($0.spelling)" }.joined(separator: ", ")
            return [
                head, "let deliver: (\(types)) async -> Void = service.\(reference)", "await deliver(\(values))",
            ]
        case .call where requirement.result != nil: return [head, "try await \(invocation)"]
        case .call: return [head, "try await \(invocation)", "return RemoteProxy.NoResult()"]
        }
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
                        "\(access)static func == (one: Self, other: Self) -> Swift.Bool", sameness(parameters)),
                    SourceLines.block(
                        "\(access)func hash(into hasher: inout Swift.Hasher)",
                        parameters.map { "\(Self.comparison).hash(self.\($0.spelling), into: &hasher)" }),
                ]))
    }

    private static var comparison: String { "RemoteProxy.ArgumentComparison" }

    /// Not synthesised: there may be arguments that have no `==`. One statement for each, since the compiler needs long for
    /// one that has many overloads in it.
    private func sameness(_ parameters: [Requirement.Parameter]) -> [String] {
        parameters.map { parameter in
            let name = parameter.spelling
            return "if !\(Self.comparison).isSame(one.\(name), other.\(name)) { return false }"
        } + ["return true"]
    }
}
