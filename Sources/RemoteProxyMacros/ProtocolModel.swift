// What the rules leave of a protocol: everything the expansion writes, and nothing it would have to ask about.

/// A protocol whose requirements can all be remote.
struct ProtocolModel {
    enum Access: String {
        case `public`, `package`, `internal`, `fileprivate`, `private`

        /// In front of the proxy.
        var ofType: String { self == .internal ? "" : "\(rawValue) " }
        /// In front of the proxy's members. Narrower ones are as narrow as the proxy without being told.
        var ofMembers: String { self == .public || self == .package ? "\(rawValue) " : "" }
    }

    /// As the source spells it.
    var name: String
    var access = Access.internal
    var documentation: [String] = []
    /// `@available` and `@MainActor`, as spelled; other global actors are inferred from the conformance.
    var attributes: [String] = []
    var isNonisolated = false
    /// Inherits `AnyObject`: the proxy is a class.
    var isClass = false
    /// Inherited protocols that are not the standard library's: nobody but the compiler knows what they require.
    var inherited: [String] = []
    var requirements: [Requirement] = []
    /// The arguments of `@Service(errors:)`.
    var errors: [String] = []
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

    var shape: Shape
    var isProperty = false
    /// Says `nonisolated` itself.
    var isNonisolated = false
    /// As the source spells it.
    var name: String
    /// Where the name stands in the source of the protocol.
    var offset = 0
    var parameters: [Parameter] = []
    /// The type as spelled; nil for none.
    var result: String?
    var documentation: [String] = []
    /// Attributes of the requirement that its witness repeats.
    var attributes: [String] = []
    /// The platforms of `@available(macOS 15, *)`, if the requirement has it.
    var availability: String?
    /// Last on the wire: the name, or for overloads the full name with labels.
    var wireName = ""
    /// The name of its entry among the generated methods, spelled.
    var entryName = ""
    /// The name of its argument struct, spelled.
    var argumentsName = ""

    struct Parameter {
        /// As spelled; nil when the call has none.
        var label: String?
        /// As spelled.
        var name: String
        var type: String

        var wireName: String { SwiftName.plain(name) }
    }

    /// `add(_:to:)`.
    var fullName: String {
        let name = SwiftName.plain(self.name)
        guard !isProperty else { return name }
        return "\(name)(\(parameters.map { SwiftName.plain($0.label ?? "_") + ":" }.joined()))"
    }
}
