// Writes how the arguments and the result of one method are sent and received.

/// Writes the functions of a method that read and write its arguments, and those that convert a result with objects in it.
struct CodingExpansion {
    private let requirement: Requirement
    private var parameters: [ParameterSyntax] { requirement.parameters }
    private var result: ObjectSyntax? { requirement.member.valueType?.objects }

    init(_ requirement: Requirement) { self.requirement = requirement }

    /// The rule for the line that names the type of the result.
    var ruleOfResult: String { requirement.result == nil || result != nil ? "" : Self.ruleOfResults }

    /// The arguments of the method's initialiser.
    var arguments: [String] {
        let coding = hasObjects ? ["coding: \(argumentsName)"] : argumentCoding("coding: ")
        guard result != nil else { return coding }
        return coding.dropLast() + ["\(coding.last ?? ""),", "results: \(resultName)"]
    }

    /// How values with objects in them are sent and received. In a place of its own, as the names of `MethodTableExpansion`
    /// are.
    var declarations: [String] {
        var lines = hasObjects ? argumentCoding("private static let \(argumentsName) = ") : []
        if let result, let type = requirement.result {
            lines += [
                "private static let \(resultName) = RemoteProxy._ResultCoding<\(type)>(",
                "    sent: { \(result.sent("$0")) }, received: { (sent: \(result.sentType)) in \(result.received("sent")) })",
            ]
        }
        return lines
    }

    /// The name, among the methods, of what an object is sent as.
    static func sentName(_ protocols: String) -> String {
        "_Object_" + String(protocols.filter { $0 != "`" }.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    private var hasObjects: Bool { parameters.contains { requirement.objects(of: $0) != nil } }
    private var argumentsName: String { "_Arguments\(requirement.number)" }
    private var resultName: String { "_Result\(requirement.number)" }

    private func argumentCoding(_ head: String) -> [String] {
        // With its type, so that a result that is refused causes no second error here.
        let type = "RemoteProxy._ArgumentCoding<\(requirement.argumentType)>"
        if parameters.isEmpty { return ["\(head)\(type).none"] }
        return ["\(head)\(type)(", "    read: { \(read) },", "    write: { \(write) })"]
    }

    private var read: String {
        let values = parameters.map { parameter in
            let value = requirement.objects(of: parameter).map { $0.received("(try $0.next() as \($0.sentType))") }
            return "let \(parameter.spelling): \(parameter.type.stored) = \(value ?? "try $0.next()"); "
        }
        let names = parameters.map(\.spelling).joined(separator: ", ")
        return "\(values.joined())return \(parameters.count == 1 ? names : "(\(names))")"
    }

    private var write: String {
        zip(parameters, requirement.values(of: "$0")).map { parameter, value in
            "try $1.write(\(requirement.objects(of: parameter)?.sent(value) ?? value))"
        }.joined(separator: "; ")
    }

    /// The compiler shows the line that this ends when the type of a result is refused.
    private static let ruleOfResults =
        "  // A result is Codable and Sendable ('nonisolated' in a module isolated to the main actor). Instead of a Result, throw. "
        + "Instead of an object or a proxy, write 'any' and the service."
}

extension ObjectSyntax {
    /// The type of what is sent: with a reference in place of each object.
    fileprivate var sentType: String {
        switch self {
        case .object, .closure: reference
        case .optional(let inner): "\(inner.sentType)?"
        case .array(let inner): "[\(inner.sentType)]"
        case .dictionary(let key, let inner): "[\(key): \(inner.sentType)]"
        }
    }

    /// The expression for what is sent of a value.
    fileprivate func sent(_ value: String) -> String {
        converted(value) { "\(reference)(\($0))" }
    }

    /// The expression for the value of which the other one was sent.
    fileprivate func received(_ sent: String) -> String {
        converted(sent) { "\($0).object" }
    }

    private func converted(_ value: String, _ object: (String) -> String) -> String {
        switch self {
        case .object, .closure: object(value)
        case .optional(let inner), .array(let inner): "\(value).map { \(inner.converted("$0", object)) }"
        case .dictionary(_, let inner): "\(value).mapValues { \(inner.converted("$0", object)) }"
        }
    }

    private var reference: String {
        if case .closure(let name) = self { return "RemoteProxy.Reference<RemoteProxy._ClosureProxy<\(name)>>" }
        return CodingExpansion.sentName(protocols)
    }
}
