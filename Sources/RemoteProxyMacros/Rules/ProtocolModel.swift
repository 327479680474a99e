// The result of the rules: the protocol as written, with all other facts that the expansion needs.

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
    /// Whether the optimiser overlooks the proxy: the protocol is internal or narrower, at the top level of a file.
    var isOverlooked = false
    /// Whether it inherits `AnyObject`. Then the proxy is a class.
    var isClass = false
    var isSendable = false
    /// Whether a proxy can conform to all inherited protocols.
    var isProxyable = true
    /// Inherited protocols from outside the standard library. Only the compiler knows their requirements.
    var inherited: [String] = []
    var requirements: [Requirement] = []
    /// The name of the generated enum of methods.
    var methodsName = "Methods"
    /// The name of the service description in that enum.
    var descriptionName = "service"

    /// The name as the source spells it, and without back-ticks.
    var name: String { syntax.name }
    var plainName: String { SwiftName.plain(name) }
    /// The service's name on the wire.
    var wireName: String { attribute.name ?? plainName }
    var proxyName: String { Self.proxyName(of: name) }
    /// The type of the objects that a proxy stands for. `& Swift.Sendable` changes nothing if an inherited protocol is Sendable.
    var service: String { "any \(name)" + (isSendable ? "" : " & Swift.Sendable") }
    /// The access modifier of the proxy's members. Narrower access is that of the proxy, and needs no modifier.
    var memberAccess: String { access == .public || access == .package ? "\(access.rawValue) " : "" }
    /// `@available` and `@MainActor`, as spelled; other global actors are inferred from the conformance.
    var attributes: [String] {
        syntax.head.attributes.filter { $0.name == "available" || $0.isMainActor }.map(\.spelling)
    }

    /// Types that every proxy has. They hide the user's types of the same name.
    static let memberTypes: Set<String> = ["MethodName", "ProxiedService"]

    /// Whether every proxy, or every Swift type, has a member of that name.
    static func isReserved(_ name: String) -> Bool {
        memberTypes.contains(name)
            || ["proxySubject", "asService", "_methodTable", "init", "self", "Self", "Type", "Protocol"].contains(name)
    }

    /// The name of a service's proxy. It is qualified as the name of the service is.
    static func proxyName(of service: String) -> String {
        let names = TokenCursor(service).tokens.filter(\.isName)
        let name = SwiftName.spelled((names.last?.plainName ?? "") + "Proxy")
        return (names.dropLast().map(\.text) + [name]).joined(separator: ".")
    }

    /// The first name in a type that would mean one of `memberTypes` inside a proxy. A name after a dot never does.
    static func hiddenType(in type: String) -> String? {
        let tokens = TokenCursor(type).tokens
        return tokens.indices.first { index in
            memberTypes.contains(tokens[index].plainName) && (index == 0 || tokens[index - 1].text != ".")
        }.map { tokens[$0].plainName }
    }

    /// The first such name in the signature of a member.
    static func hiddenType(in member: MemberSyntax) -> String? {
        (member.parameters.map(\.type) + [member.result].compactMap(\.self)).lazy.compactMap {
            hiddenType(in: $0.spelling)
        }.first
    }
}

/// A requirement that can be remote.
struct Requirement {
    let member: MemberSyntax
    /// The case of `MethodSignature.Effect` that its mark stands for; nil without a mark.
    var effect: String?
    /// Other attributes of the requirement that its witness repeats.
    var attributes: [String] = []
    var availability: [Availability] = []
    /// Its place among the requirements.
    var number = 0
    /// The name on the wire: that of the requirement, or for overloads the full name with labels.
    var wireName = ""

    /// The name without back-ticks.
    var name: String { member.name }
    /// The name as a declaration or an expression spells it.
    var spelling: String { SwiftName.spelled(name) }
    var parameters: [ParameterSyntax] { member.parameters }
    /// The type of the result as spelled; nil for none.
    var result: String? { member.valueType?.spelling }
    var isProperty: Bool { member.kind == .property }
    /// Whether it is a post: it has no result and does not throw. All others are calls: `async throws`.
    var isPost: Bool { !isProperty && !member.effects.isThrowing }
    /// Whether it is a post that objects run as an async function.
    var isAsyncPost: Bool { isPost && member.effects.isAsync }
    /// The name of its entry among the generated methods, spelled.
    var entryName: String { SwiftName.spelled(wireName) }

    /// `add(_:to:)`.
    var fullName: String { isProperty ? name : "\(name)(\(parameters.map { ($0.label ?? "_") + ":" }.joined()))" }

    /// Where the objects are in the values of a parameter; nil if none are sent with them. A closure is an object too.
    func objects(of parameter: ParameterSyntax) -> ObjectSyntax? {
        closureName(parameter).map { .closure($0) } ?? parameter.type.objects
    }

    /// The name of the generated type for a closure; nil if the parameter is none.
    func closureName(_ parameter: ParameterSyntax) -> String? {
        guard case .closure = parameter.type.shape,
            let place = parameters.firstIndex(where: { $0.offset == parameter.offset })
        else { return nil }
        return "_Closure\(number)_\(place)"
    }

    /// The arguments of a call to the real object.
    /// - Parameter all: the expression for all arguments as one value; nil if each is a variable with its parameter's name.
    func arguments(of all: String? = nil) -> String {
        zip(parameters, values(of: all)).map { parameter, value in
            (parameter.label.map { "\(SwiftName.label($0)): " } ?? "") + value
        }.joined(separator: ", ")
    }

    /// The type of all arguments as one value: a tuple with their names, or the type of the only one.
    var argumentType: String {
        if parameters.count == 1 { return parameters[0].type.stored }
        if parameters.isEmpty { return "Swift.Void" }
        return "(\(parameters.map { "\(SwiftName.tupleLabel($0.name)): \($0.type.stored)" }.joined(separator: ", ")))"
    }

    /// The expressions for the arguments one by one; `all` as above.
    func values(of all: String?) -> [String] {
        guard let all else { return parameters.map(\.spelling) }
        return parameters.count == 1 ? [all] : parameters.map { "\(all).\($0.spelling)" }
    }
}
