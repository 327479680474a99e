// Writes the method table and the argument structs, which the client, the server and every local proxy use.

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
            \(access)nonisolated static let methodTable = RemoteProxy.MethodTable<\(service)>(
                \(isConditional ? conditionalList : list))
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
                var entries: [any RemoteProxy.ServiceMethod<\(service)>] = []
                \(statements)
                return entries
            }()\(inheritance)
            """
    }

    /// The methods one by one, and the types of their arguments.
    var methods: SourceText {
        let errors = model.attribute.errors.map { "\(SwiftName.literal($0.type)): \($0.expression)" }.joined(
            separator: ", ")
        let description = SwiftName.literal(model.wireName) + (errors.isEmpty ? "" : ", errors: [\(errors)]")
        let arguments = model.requirements.filter { !$0.parameters.isEmpty }.map(argumentStruct)
        return """
            /// The methods of \(model.plainName), typed.
            \(access)nonisolated enum \(methodsName) {
                static let \(model.descriptionName) = RemoteProxy.ServiceDescription(\(description))

                \(paragraphs: model.requirements.map(entry))

                \(paragraphs: arguments)
            }
            """
    }

    private func entry(of requirement: Requirement) -> SourceText {
        let arguments = requirement.parameters.isEmpty ? "RemoteProxy.NoArguments" : requirement.argumentsName
        let result = requirement.result ?? "RemoteProxy.NoResult"
        // Without the types, a result that is not Codable would cause an error for each of them too.
        let types = "(service: \(service), \(requirement.parameters.isEmpty ? "_" : "arguments"): \(arguments))"
        let type = requirement.isPost ? "Post<\(service), \(arguments)>" : "Method<\(service), \(arguments), \(result)>"
        let proxy = [
            (requirement.isAsyncPost ? "isAsync: true, " : "") + "proxy: { \(model.proxyName)(subject: $0).asService }"
        ]
        return """
            /// `\(requirement.fullName)` of \(model.plainName).
            \(requirement.availability.map(\.spelling))
            \(access)static let \(requirement.entryName) = RemoteProxy.\(type)(\(requirement.result == nil ? "" : Self.ruleOfResults)
                \(requirement.isPost ? [facts(of: requirement) + ","] + proxy : [facts(of: requirement)])) {
                \(types) async\(requirement.isPost ? "" : " throws -> \(result)") in
                \(invocation(of: requirement))
            }
            """
    }

    /// The compiler shows the line that this ends when the type of a result is refused.
    private static let ruleOfResults =
        "  // A result is Codable and Sendable ('nonisolated' in a module isolated to the main actor). Instead of a Result, throw. "
        + "Objects and proxies do not travel."

    /// The name of the method, and what discovery tells about it.
    private func facts(of requirement: Requirement) -> String {
        var facts = [SwiftName.literal(requirement.wireName), "of: \(model.descriptionName)"]
        if !requirement.parameters.isEmpty {
            let list = requirement.parameters.map {
                ".init(\(SwiftName.literal($0.name)), \(SwiftName.literal($0.type.spelling)))"
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
            return ["await service.\(requirement.spelling)(\(requirement.arguments("arguments.")))"]
        }
        if requirement.isPost {
            let labels = parameters.map { ($0.label.map(SwiftName.label) ?? "_") + ":" }.joined()
            let types = parameters.map(\.type.spelling).joined(separator: ", ")
            let function = requirement.spelling + (labels.isEmpty ? "" : "(\(labels))")
            let values = parameters.map { "arguments.\($0.spelling)" }.joined(separator: ", ")
            return ["let deliver: (\(types)) async -> Void = service.\(function)", "await deliver(\(values))"]
        }
        let arguments = requirement.isProperty ? "" : "(\(requirement.arguments("arguments.")))"
        let call = "try await service.\(requirement.spelling)\(arguments)"
        return requirement.result == nil ? [call, "return RemoteProxy.NoResult()"] : [call]
    }

    private func argumentStruct(of requirement: Requirement) -> SourceText {
        let parameters = requirement.parameters
        let labelled = parameters.map { "\(SwiftName.label($0.name)): \($0.type.spelling)" }.joined(separator: ", ")
        /// A line for each argument, with its name as source and as text.
        func each(_ line: (_ name: String, _ text: String) -> String) -> [String] {
            parameters.map { line($0.spelling, SwiftName.literal($0.name)) }
        }
        return """
            /// The arguments of `\(requirement.fullName)`.
            \(access)struct \(requirement.argumentsName): RemoteProxy.MethodArguments {
                \(parameters.map { "\(access)let \($0.spelling): \($0.type.spelling)" })

                \(access)init(\(labelled)) {
                    \(each { name, _ in "self.\(name) = \(name)" })
                }

                \(access)init(from reader: inout RemoteProxy.ArgumentReader) throws {
                    \(each { "self.\($0) = try reader.next(\($1))" })
                }

                \(access)func write(to writer: inout RemoteProxy.ArgumentWriter) throws {
                    \(each { name, _ in "try writer.write(self.\(name))" })
                }
            }
            """
    }
}
