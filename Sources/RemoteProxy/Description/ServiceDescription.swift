// What all methods of one service share: its name on the wire, and the errors that travel as themselves.

/// A service's name and its declared errors.
public struct _ServiceDescription: Sendable {
    /// What all closures are on the wire. No service of a program can have that name.
    public static let _closure = _ServiceDescription("()")

    /// An error type that travels as itself.
    typealias ErrorType = any (Error & Codable & Sendable).Type

    /// The first half of every wire name: the protocol's name, or the one given by `@Service(name:)`.
    public private(set) var name: String
    /// The declared error types with their spellings, in the order in which they are listed.
    let errors: [(spelling: String, type: any (Error & Codable & Sendable).Type)]

    /// Describes a service whose error types have no spelling of their own: each has its unqualified name.
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

extension _ServiceDescription {
    /// The same errors under another name.
    func named(_ name: String) -> _ServiceDescription {
        var description = self
        description.name = name
        return description
    }
}

// Names of error types on the wire.
extension _ServiceDescription {
    /// What a listed type is called on the wire.
    ///
    /// The type is sent by its unqualified name if no other listed type has that name; the first release knows only such names.
    /// The spelling is sent too if it differs. If several listed types have the unqualified name, the spelling is sent as both.
    /// An end of the first release then takes a qualified spelling for a type that is not listed.
    func wireNames(of type: ErrorType, spelled spelling: String) -> (type: String, spelling: String?) {
        let name = Self.unqualifiedName(of: type)
        guard self.type(unqualified: name) != nil else { return (spelling, spelling) }
        return (name, name == spelling ? nil : spelling)
    }

    /// The listed type that the other end means; nil if it could mean none or several.
    /// - Parameter spelling: nil from an end that sends none, because the name is enough or because it is of the first release.
    func errorType(named name: String, spelling: String?) -> ErrorType? {
        if let spelling {
            // One end may spell it with its module, or with other types around it. Of several types the spelling is the name.
            if name == spelling { return type(spelled: spelling) }
            return type(spelled: spelling)
                ?? type { $0.hasSuffix(".\(spelling)") || spelling.hasSuffix(".\($0)") }
        }
        // From an end of the first release, a name that several types have could mean any of them.
        let isUnqualified = errors.contains { Self.unqualifiedName(of: $0.type) == name }
        return isUnqualified ? type(unqualified: name) : type(spelled: name)
    }

    private func type(spelled spelling: String) -> ErrorType? { type { $0 == spelling } }

    private func type(_ isSpelled: (String) -> Bool) -> ErrorType? {
        Self.only(errors.filter { isSpelled($0.spelling) }.map(\.type))
    }

    private func type(unqualified name: String) -> ErrorType? {
        Self.only(errors.lazy.filter { Self.unqualifiedName(of: $0.type) == name }.map(\.type))
    }

    /// The type that all of these are; nil for none and for several.
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
