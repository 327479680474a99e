// The result of the rules: everything that the expansion writes, with all questions answered.

/// A protocol whose requirements can all be remote.
struct ProtocolModel {
    enum Access: String {
        case `public`, `package`, `internal`, `fileprivate`, `private`

        init?(_ modifiers: [String]) {
            guard let access = modifiers.lazy.compactMap(Self.init(rawValue:)).first else { return nil }
            self = access
        }

        /// In front of the proxy's members. Narrower ones are as narrow as the proxy without being told.
        var ofMembers: String { self == .public || self == .package ? "\(rawValue) " : "" }
    }

    /// As the source spells it.
    let name: String
    /// What the service is called on the wire.
    var wireName: String
    var access = Access.internal
    /// Whether the extension around it says so and the proxy need not repeat it.
    var inheritsAccess = false
    var documentation: [String] = []
    /// `@available` and `@MainActor`, as spelled; other global actors are inferred from the conformance.
    var attributes: [String] = []
    var isNonisolated = false
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
    /// The arguments of `@Service(errors:)`.
    var errors: [ServiceAttribute.DeclaredError] = []
    /// What the enum of the methods is called, and in it the description of the service.
    var methodsName = "Methods"
    var descriptionName = "service"

    var plainName: String { SwiftName.plain(name) }
    var proxyName: String { SwiftName.spelled(plainName + "Proxy") }
    /// The type of the objects that a proxy stands for. Only a protocol that is refused may not be Sendable by itself.
    var service: String { "any \(name)" + (isSendable ? "" : " & Swift.Sendable") }

    /// Types that every proxy has. They hide types that the protocol's text means by the same name.
    static let memberTypes: Set<String> = ["MethodName", "ProxiedService"]

    /// Whether the generated proxy has a member of that name itself, or every Swift type has.
    static func isReserved(_ name: String) -> Bool {
        memberTypes.contains(name)
            || ["proxySubject", "asService", "methodTable", "init", "self", "Self", "Type", "Protocol"].contains(name)
    }
}

/// A requirement in one of the shapes that can be remote.
struct Requirement {
    enum Shape {
        /// `async throws`, with or without a result.
        case call
        /// Neither effects nor a result.
        case post
    }

    /// What its author says about it.
    enum Mark: String {
        case readOnly = "ReadOnly"
        case idempotent = "Idempotent"

        /// The case of `MethodSignature.Effect`.
        var effect: String {
            switch self {
            case .readOnly: "reads"
            case .idempotent: "idempotent"
            }
        }
    }

    let shape: Shape
    var mark: Mark?
    var isProperty = false
    /// Says `nonisolated` itself.
    var isNonisolated = false
    /// Without back-ticks.
    let name: String
    /// Where the name stands in the source of the protocol.
    var offset = 0
    var parameters: [Parameter] = []
    /// The type as spelled; nil for none.
    var result: String?
    var documentation: [String] = []
    /// Other attributes of the requirement that its witness repeats.
    var attributes: [String] = []
    var availability: [Availability] = []
    /// On the wire: the name, or for overloads the full name with labels.
    var wireName = ""
    /// The name of its entry among the generated methods, spelled.
    var entryName = ""
    /// The name of its argument struct, spelled.
    var argumentsName = ""

    struct Parameter {
        /// Without back-ticks; nil when the call has none.
        let label: String?
        /// Without back-ticks; also the name on the wire.
        let name: String
        /// As spelled.
        let type: String

        /// As a declaration or an expression spells it.
        var spelling: String { SwiftName.spelled(name) }

        /// As the parameter of a function.
        var declaration: String {
            guard let label else { return "_ \(spelling): \(type)" }
            return SwiftName.label(label) + (label == name ? "" : " \(spelling)") + ": \(type)"
        }

        /// The same parameter, labelled with its own name.
        var memberwise: Parameter { Parameter(label: name, name: name, type: type) }
    }

    /// As a declaration or an expression spells it.
    var spelling: String { SwiftName.spelled(name) }

    /// `add(_:to:)`.
    var fullName: String {
        isProperty ? name : "\(name)(\(parameters.map { ($0.label ?? "_") + ":" }.joined()))"
    }

    /// The arguments of a call to the real object. Each value has the prefix.
    func arguments(_ prefix: String = "") -> String {
        parameters.map { parameter in
            (parameter.label.map { "\(SwiftName.label($0)): " } ?? "") + prefix + parameter.spelling
        }.joined(separator: ", ")
    }
}
