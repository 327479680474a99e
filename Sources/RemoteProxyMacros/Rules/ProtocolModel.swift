// What the rules leave of a protocol: everything the expansion writes, and nothing it would have to ask about.

/// A protocol whose requirements can all be remote.
struct ProtocolModel {
    enum Access: String {
        case `public`, `package`, `internal`, `fileprivate`, `private`

        /// In front of the proxy's members. Narrower ones are as narrow as the proxy without being told.
        var ofMembers: String { self == .public || self == .package ? "\(rawValue) " : "" }
    }

    /// As the source spells it.
    var name: String
    /// What the service is called on the wire.
    var wireName = ""
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
    /// Inherited protocols that are not the standard library's: nobody but the compiler knows what they require.
    var inherited: [String] = []
    var requirements: [Requirement] = []
    /// The arguments of `@Service(errors:)`.
    var errors: [ServiceAttribute.DeclaredError] = []
    var names = GeneratedNames()

    var proxyName: String { SwiftName.spelled(SwiftName.plain(name) + "Proxy") }
}

/// Names of generated types, kept apart from those that the user's signatures mention.
struct GeneratedNames {
    var methods = "Methods"
    var service = "service"
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

    var shape: Shape
    var mark: Mark?
    var isProperty = false
    /// Says `nonisolated` itself.
    var isNonisolated = false
    /// Without back-ticks.
    var name: String
    /// Where the name stands in the source of the protocol.
    var offset = 0
    var parameters: [Parameter] = []
    /// The type as spelled; nil for none.
    var result: String?
    var documentation: [String] = []
    /// Other attributes of the requirement that its witness repeats.
    var attributes: [String] = []
    /// Its `@available` attributes, as spelled.
    var availability: [String] = []
    /// What `#available` asks before it is listed.
    var conditions: [String] = []
    var isDeprecated = false
    /// On the wire: the name, or for overloads the full name with labels.
    var wireName = ""
    /// The name of its entry among the generated methods, spelled.
    var entryName = ""
    /// The name of its argument struct, spelled.
    var argumentsName = ""

    struct Parameter {
        /// Without back-ticks; nil when the call has none.
        var label: String?
        /// Without back-ticks; also the name on the wire.
        var name: String
        /// As spelled.
        var type: String

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
}
