// The result of the rules: a protocol as it is written, and the answers to all questions of the expansion.

/// A protocol whose requirements can all be remote.
struct ProtocolModel {
    enum Access: String {
        case `public`, `package`, `internal`, `fileprivate`, `private`

        init?(_ modifiers: [String]) {
            guard let access = modifiers.lazy.compactMap(Self.init(rawValue:)).first else { return nil }
            self = access
        }
    }

    let syntax: ProtocolSyntax
    let attribute: ServiceAttribute
    let access: Access
    /// Internal or narrower at the top level of a file: the optimiser needs to be told of the proxy.
    var isOverlooked = false
    /// Inherits `AnyObject`: the proxy is a class.
    var isClass = false
    var isSendable = false
    /// Inherits nothing that a proxy cannot be.
    var isProxyable = true
    /// Inherited protocols that are not the standard library's: only the compiler knows what they require.
    var inherited: [String] = []
    var requirements: [Requirement] = []
    /// What the enum of the methods is called, and in it the description of the service.
    var methodsName = "Methods"
    var descriptionName = "service"

    /// The name as the source spells it, and without back-ticks.
    var name: String { syntax.name }
    var plainName: String { SwiftName.plain(name) }
    /// What the service is called on the wire.
    var wireName: String { attribute.name ?? plainName }
    var proxyName: String { SwiftName.spelled(plainName + "Proxy") }
    /// The type of the objects that a proxy stands for. Only a protocol that is refused may not be Sendable by itself.
    var service: String { "any \(name)" + (isSendable ? "" : " & Swift.Sendable") }
    /// In front of the proxy's members. Narrower ones are as narrow as the proxy without being told.
    var memberAccess: String { access == .public || access == .package ? "\(access.rawValue) " : "" }
    /// `@available` and `@MainActor`, as spelled; other global actors are inferred from the conformance.
    var attributes: [String] {
        syntax.head.attributes.filter { $0.name == "available" || $0.isMainActor }.map(\.spelling)
    }

    /// Types that every proxy has. They hide types that the protocol's text means by the same name.
    static let memberTypes: Set<String> = ["MethodName", "ProxiedService"]

    /// Whether the generated proxy has a member of that name itself, or every Swift type has.
    static func isReserved(_ name: String) -> Bool {
        memberTypes.contains(name)
            || ["proxySubject", "asService", "methodTable", "init", "self", "Self", "Type", "Protocol"].contains(name)
    }

    /// The first name in a type that means another type inside a proxy. After a dot it does not.
    static func hiddenType(in type: String) -> String? {
        let tokens = TokenCursor(type).tokens
        return tokens.indices.first { index in
            memberTypes.contains(tokens[index].plainName) && (index == 0 || tokens[index - 1].text != ".")
        }.map { tokens[$0].plainName }
    }
}

/// A requirement in one of the shapes that can be remote.
struct Requirement {
    let member: MemberSyntax
    /// What a mark says about it: the case of `MethodSignature.Effect`.
    var effect: String?
    /// Other attributes of the requirement that its witness repeats.
    var attributes: [String] = []
    var availability: [Availability] = []
    /// On the wire: the name, or for overloads the full name with labels.
    var wireName = ""
    /// The name of its argument struct, spelled.
    var argumentsName = ""

    /// Without back-ticks.
    var name: String { member.name }
    /// As a declaration or an expression spells it.
    var spelling: String { SwiftName.spelled(name) }
    var parameters: [ParameterSyntax] { member.parameters }
    /// The type as spelled; nil for none.
    var result: String? { member.valueType?.spelling }
    var isProperty: Bool { member.kind == .property }
    /// Neither effects nor a result. All others are calls: `async throws`.
    var isPost: Bool { !isProperty && !member.effects.isPresent }
    /// The name of its entry among the generated methods, spelled.
    var entryName: String { SwiftName.spelled(wireName) }

    /// `add(_:to:)`.
    var fullName: String { isProperty ? name : "\(name)(\(parameters.map { ($0.label ?? "_") + ":" }.joined()))" }

    /// The arguments of a call to the real object. Each value has the prefix.
    func arguments(_ prefix: String = "") -> String {
        parameters.map { parameter in
            (parameter.label.map { "\(SwiftName.label($0)): " } ?? "") + prefix + parameter.spelling
        }.joined(separator: ", ")
    }
}
