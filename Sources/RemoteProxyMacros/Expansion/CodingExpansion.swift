// Writes how the arguments and the result of one method are sent and received.

/// Writes the functions of a method that read and write its arguments, and those that convert a result with objects in it.
struct CodingExpansion {
    private let requirement: Requirement
    private var parameters: [ParameterSyntax] { requirement.parameters }
    private var result: ObjectSyntax? { requirement.member.valueType?.objects }
    private var hasObjects: Bool { parameters.contains { $0.type.objects != nil } }

    init(_ requirement: Requirement) { self.requirement = requirement }

    /// The rule for the line that names the type of the result.
    var ruleOfResult: String { requirement.result == nil || result != nil ? "" : Self.ruleOfResults }

    /// The rule for the line of the last argument.
    var ruleOfLastArgument: String { hasObjects || result != nil ? Self.ruleOfObjects : "" }

    /// The arguments of the method's initialiser.
    var arguments: [String] {
        // With its type, so that a result that is refused causes no second error here.
        let type = "RemoteProxy._ArgumentCoding<\(requirement.argumentType)>"
        let rule = hasObjects ? Self.ruleOfObjects : ""
        let coding =
            parameters.isEmpty
            ? ["coding: \(type).none"]
            : ["coding: \(type)(", "    read: { \(read) },\(rule)", "    write: { \(write) })"]
        guard let result else { return coding }
        // How the result becomes what is sent, and back.
        return coding.dropLast() + [
            "\(coding.last ?? ""),\(rule)", "sent: { \(result.sent("$0")) },\(Self.ruleOfObjects)",
            "received: { (sent: \(result.sentType)) in \(result.received("sent")) }",
        ]
    }

    private var read: String {
        let values = parameters.map { parameter in
            let value = parameter.type.objects.map { $0.received("(try $0.next() as \($0.sentType))") }
            return "let \(parameter.spelling): \(parameter.type.spelling) = \(value ?? "try $0.next()"); "
        }
        let names = parameters.map(\.spelling).joined(separator: ", ")
        return "\(values.joined())return \(parameters.count == 1 ? names : "(\(names))")"
    }

    private var write: String {
        zip(parameters, requirement.values(of: "$0")).map { parameter, value in
            "try $1.write(\(parameter.type.objects?.sent(value) ?? value))"
        }.joined(separator: "; ")
    }

    /// The compiler shows the line that this ends when the type of a result is refused.
    private static let ruleOfResults =
        "  // A result is Codable and Sendable ('nonisolated' in a module isolated to the main actor). Instead of a Result, throw. "
        + "Instead of an object or a proxy, write 'any' and the service."

    /// The compiler shows the lines that this ends when it does not find the proxy of a service.
    private static let ruleOfObjects = "  // Objects are sent by reference, so the protocol after 'any' needs @Service."
}

extension ObjectSyntax {
    /// The type of what is sent: with a reference in place of each object.
    fileprivate var sentType: String {
        switch self {
        case .object: reference
        case .optional(let inner): "\(inner.sentType)?"
        case .array(let inner): "[\(inner.sentType)]"
        case .dictionary(let key, let inner): "[\(key): \(inner.sentType)]"
        }
    }

    /// The expression for what is sent of a value.
    fileprivate func sent(_ value: String) -> String { converted(value) { "\(reference)(\($0))" } }

    /// The expression for the value of which the other one was sent.
    fileprivate func received(_ sent: String) -> String { converted(sent) { "\($0).object" } }

    private func converted(_ value: String, _ object: (String) -> String) -> String {
        switch self {
        case .object: object(value)
        case .optional(let inner), .array(let inner): "\(value).map { \(inner.converted("$0", object)) }"
        case .dictionary(_, let inner): "\(value).mapValues { \(inner.converted("$0", object)) }"
        }
    }

    private var reference: String { "RemoteProxy.Reference<\(ProtocolModel.proxyName(of: protocols))>" }
}
