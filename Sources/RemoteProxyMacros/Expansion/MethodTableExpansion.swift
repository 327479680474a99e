// Writes the method table, and the typed methods. The client, the server and every local proxy use them.

/// Writes the part of a proxy that describes its methods.
struct MethodTableExpansion {
    private let model: ProtocolModel
    private var access: String { model.memberAccess }
    private var service: String { model.service }
    private var methodsName: String { model.methodsName }

    init(_ model: ProtocolModel) { self.model = model }

    /// The list of all methods.
    var table: SourceText {
        let availability = model.requirements.flatMap(\.availability)
        // The table lists deprecated methods, which would warn unless the table were deprecated too. It is used through
        // `ServiceProxy`, where its own deprecation does not warn.
        let deprecation =
            availability.contains(where: \.isDeprecated)
            ? [#"@available(*, deprecated, message: "It lists deprecated methods.")"#] : []
        let isConditional = availability.contains { $0.condition != nil }
        let entries = model.requirements.map { "\(methodsName).\($0.entryName)" }
        let list: SourceText = "\(description), [\(entries.joined(separator: ", "))]\(inheritance)"
        return """
            /// All methods of the service, in the order of declaration.
            \(deprecation)
            \(access)nonisolated static let _methodTable = RemoteProxy._MethodTable<\(service)>(
                \(isConditional ? conditionalList : list)) {
                ($0 as? \(service) & Swift.AnyObject).map { \(model.proxyName).weak($0).proxySubject }
            }
            """
    }

    /// The description of the service, as the table refers to it.
    private var description: String { "\(methodsName).\(model.descriptionName)" }

    /// The methods of each inherited protocol, if it is a service. Only the compiler knows that.
    private var inheritance: String {
        if model.inherited.isEmpty { return "" }
        let methods = model.inherited.map { "\(model.proxyName)._inherit((any \($0)).self) { $0 }" }
        return ", inheriting: [\(methods.joined(separator: ", "))]"
    }

    /// A list that has a method only where it is available.
    private var conditionalList: SourceText {
        let statements = model.requirements.map { requirement in
            requirement.availability.compactMap(\.condition).reversed().reduce(
                "entries.append(\(methodsName).\(requirement.entryName))"
            ) { "if #available(\($1)) { \($0) }" }
        }
        return """
            \(description), {
                var entries: [RemoteProxy._ServiceMethod<\(service)>] = []
                \(statements)
                return entries
            }()\(inheritance)
            """
    }

    /// The methods one by one.
    var methods: SourceText {
        let errors = model.attribute.errors.map { "\(SwiftName.literal($0.type)): \($0.expression)" }.joined(
            separator: ", ")
        let description = SwiftName.literal(model.wireName) + (errors.isEmpty ? "" : ", errors: [\(errors)]")
        return """
            /// The methods of \(model.plainName), typed.
            \(access)nonisolated enum \(methodsName) {
                static let \(model.descriptionName) = RemoteProxy._ServiceDescription(\(description))
                \(sentNames)
                \(model.requirements.flatMap { CodingExpansion($0).declarations })

                \(paragraphs: closures + model.requirements.map(entry))
            }
            """
    }

    /// Names for what objects are sent as. Named once, in a place of its own: the compiler crashes when it does not find the proxy
    /// of a service inside a larger expression.
    private var sentNames: [String] {
        let types = model.requirements.flatMap {
            $0.parameters.map(\.type) + [$0.member.valueType].compactMap(\.self)
        }
        return Set(types.compactMap { $0.objects?.protocols }).sorted().map {
            "private typealias \(CodingExpansion.sentName($0)) = RemoteProxy.Reference<\(ProtocolModel.proxyName(of: $0))>"
                + Self.ruleOfObjects
        }
    }

    /// The compiler shows the line that this ends when it does not find the proxy of a service.
    private static let ruleOfObjects = "  // Objects are sent by reference, so the protocol after 'any' needs @Service."

    private var closures: [SourceText] {
        model.requirements.flatMap { requirement in
            requirement.parameters.compactMap { ClosureExpansion($0, of: requirement, access: access)?.source }
        }
    }

    private func entry(of requirement: Requirement) -> SourceText {
        let result = requirement.result ?? "RemoteProxy._NoResult"
        let arguments = requirement.argumentType
        // A function among the parameters of a closure has to say that it escapes.
        let passed = requirement.parameters.count == 1 ? requirement.parameters[0].type.spelling : arguments
        // Without the types, a result that is not Codable would cause an error for each of them too.
        let types = "(service: \(service), \(requirement.parameters.isEmpty ? "_" : "arguments"): \(passed))"
        let type = requirement.isPost ? "Post<\(service), \(arguments)>" : "Method<\(service), \(arguments), \(result)>"
        let proxy = [
            (requirement.isAsyncPost ? "isAsync: true, " : "") + "proxy: { \(model.proxyName)(subject: $0).asService }"
        ]
        let coding = CodingExpansion(requirement)
        let facts = ([facts(of: requirement)] + (requirement.isPost ? proxy : [])).map { $0 + "," }
        return """
            /// `\(requirement.fullName)` of \(model.plainName).
            \(requirement.availability.map(\.spelling))
            \(access)static let \(requirement.entryName) = RemoteProxy.\(type)(\(coding.ruleOfResult)
                \(facts + coding.arguments)) {
                \(types) async\(requirement.isPost ? "" : " throws -> \(result)") in
                \(invocation(of: requirement))
            }
            """
    }

    /// The name of the method, and what discovery tells about it.
    private func facts(of requirement: Requirement) -> String {
        var facts = [SwiftName.literal(requirement.wireName), "of: \(model.descriptionName)"]
        if !requirement.parameters.isEmpty {
            let list = requirement.parameters.map {
                "\(SwiftName.literal($0.name)): \(SwiftName.literal($0.type.spelling))"
            }
            facts.append("parameters: [\(list.joined(separator: ", "))]")
        }
        if let result = requirement.result { facts.append("result: \(SwiftName.literal(result))") }
        if let effect = requirement.effect { facts.append("effect: .\(effect)") }
        return facts.joined(separator: ", ")
    }

    /// The statements that call the real object.
    ///
    /// A post that is not async is called through a value of an async function type. Only the compiler knows whether the post is
    /// isolated to an actor, and so needs `await`. Converting it to that type is right in both cases and causes no warning.
    private func invocation(of requirement: Requirement) -> [String] {
        let parameters = requirement.parameters
        if requirement.isAsyncPost {
            return ["await service.\(requirement.spelling)(\(requirement.arguments(of: "arguments")))"]
        }
        if requirement.isPost {
            let labels = parameters.map { ($0.label.map(SwiftName.label) ?? "_") + ":" }.joined()
            let types = parameters.map(\.type.spelling).joined(separator: ", ")
            let function = requirement.spelling + (labels.isEmpty ? "" : "(\(labels))")
            let values = requirement.values(of: "arguments").joined(separator: ", ")
            return ["let deliver: (\(types)) async -> Void = service.\(function)", "await deliver(\(values))"]
        }
        let arguments = requirement.isProperty ? "" : "(\(requirement.arguments(of: "arguments")))"
        let call = "try await service.\(requirement.spelling)\(arguments)"
        return requirement.result == nil ? [call, "return RemoteProxy._NoResult()"] : [call]
    }
}
