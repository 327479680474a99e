// What all methods of one service share: its name on the wire and the errors that travel as themselves.

/// A service's name and its declared errors.
public struct ServiceDescription: Sendable {
    /// An error type that travels as itself.
    typealias ErrorType = any (Error & Codable & Sendable).Type

    /// The first half of every wire name: the protocol's name, or the one given by `@Service(name:)`.
    public let name: String
    /// Each with its name on the wire, in the order in which they are listed.
    let errors: [(spelling: String, type: any (Error & Codable & Sendable).Type)]

    /// Describes a service whose error types have no spelling of their own: each goes by its unqualified name.
    public init(_ name: String, errors: [any (Error & Codable & Sendable).Type] = []) {
        self.name = name
        self.errors = errors.map { (Self.unqualifiedName(of: $0), $0) }
    }

    /// Made by generated code, with each error type under the spelling that `@Service(errors:)` has.
    public init(_ name: String, errors: KeyValuePairs<String, any (Error & Codable & Sendable).Type>) {
        self.name = name
        self.errors = errors.map { ($0.key, $0.value) }
    }
}

// Names of error types on the wire.
extension ServiceDescription {
    /// What a listed type is called on the wire.
    ///
    /// The type goes under its unqualified name where no other listed type has that name, as in the first release, which knows
    /// no other. Its spelling stands beside the name if it is another one. Where the unqualified name means several listed
    /// types, the spelling is sent as both: an end of the first release then takes a qualified one for a type that is not
    /// listed.
    func wireNames(of type: ErrorType, spelled spelling: String) -> (type: String, spelling: String?) {
        let name = Self.unqualifiedName(of: type)
        guard self.type(unqualified: name) != nil else { return (spelling, spelling) }
        return (name, name == spelling ? nil : spelling)
    }

    /// The listed type that the other end means; nil where none or several could be meant.
    /// - Parameter spelling: nil from an end that sends none, because the name says it all or because it is of the first release.
    func errorType(named name: String, spelling: String?) -> ErrorType? {
        if let spelling { return type(spelled: spelling) }
        // Said by an end of the first release, a name that several have could be any of them.
        let isUnqualified = errors.contains { Self.unqualifiedName(of: $0.type) == name }
        return isUnqualified ? type(unqualified: name) : type(spelled: name)
    }

    private func type(spelled spelling: String) -> ErrorType? {
        Self.only(errors.lazy.filter { $0.spelling == spelling }.map(\.type))
    }

    private func type(unqualified name: String) -> ErrorType? {
        Self.only(errors.lazy.filter { Self.unqualifiedName(of: $0.type) == name }.map(\.type))
    }

    /// The type that all of them are; nil for none and for several.
    private static func only(_ types: some Sequence<ErrorType>) -> ErrorType? {
        var only: ErrorType?
        for type in types {
            guard only == nil || only == type else { return nil }
            only = type
        }
        return only
    }

    private static func unqualifiedName(of type: ErrorType) -> String { String(describing: type) }
}
