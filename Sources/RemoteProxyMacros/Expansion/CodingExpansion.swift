// Writes how the arguments and the result of one method are sent and received.

/// Writes the functions of a method that read and write its arguments.
struct CodingExpansion {
    private let requirement: Requirement
    private var parameters: [ParameterSyntax] { requirement.parameters }

    init(_ requirement: Requirement) { self.requirement = requirement }

    /// The rule for the line that names the type of the result.
    var ruleOfResult: String { requirement.result == nil ? "" : Self.ruleOfResults }

    /// The arguments of the method's initialiser.
    var arguments: [String] {
        // With its type, so that a result that is refused causes no second error here.
        let type = "RemoteProxy._ArgumentCoding<\(requirement.argumentType)>"
        if parameters.isEmpty { return ["coding: \(type).none"] }
        return ["coding: \(type)(", "    read: { \(read) },", "    write: { \(write) })"]
    }

    private var read: String {
        let values = parameters.map { "let \($0.spelling): \($0.type.spelling) = try $0.next(); " }
        let names = parameters.map(\.spelling).joined(separator: ", ")
        return "\(values.joined())return \(parameters.count == 1 ? names : "(\(names))")"
    }

    private var write: String {
        requirement.values(of: "$0").map { "try $1.write(\($0))" }.joined(separator: "; ")
    }

    /// The compiler shows the line that this ends when the type of a result is refused.
    private static let ruleOfResults =
        "  // A result is Codable and Sendable ('nonisolated' in a module isolated to the main actor). Instead of a Result, throw. "
        + "Objects and proxies do not travel."
}
