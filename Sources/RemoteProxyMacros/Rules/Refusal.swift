// Everything that `@Service` and the marks refuse. Each reason is named after the fault, says why the thing cannot be
// remote, and what to write instead.

/// A message to the user about one thing in the source.
struct Refusal: Error, Equatable {
    /// Begins with the subject, mostly a name in quotes.
    let message: String
    /// Bytes from the start of the declaration's source; nil for a message about the attribute.
    let offset: Int?

    init(_ subject: String, _ reason: Reason, at offset: Int? = nil) {
        message = "\(subject) \(reason.text)"
        self.offset = offset
    }
}

/// Why something is refused: the message after its subject.
struct Reason: ExpressibleByStringInterpolation {
    let text: String

    init(stringLiteral text: String) { self.text = text }
}

// The protocol as a whole.
extension Reason {
    static let notAProtocol: Self = "can only be attached to a protocol"
    static let notUnderstood: Self = "cannot read this; a service consists of functions and properties without bodies"

    static func notSendable(_ name: String, _ inherited: [String]) -> Self {
        let list = (inherited + ["Sendable"]).joined(separator: ", ")
        return "must inherit Sendable, because tasks share proxies; write 'protocol \(name): \(list)'"
    }
    static let primaryAssociatedTypes: Self = "cannot be remote with primary associated types; name concrete types"
    static let whereClause: Self = "cannot be remote with a where clause; list inherited protocols after the colon"
    static func inheritsRequirements(_ inherited: String) -> Self {
        "cannot inherit \(inherited), because a proxy cannot do what it requires; remove it"
    }
    static let inheritsActor: Self =
        "cannot inherit Actor, because a proxy is not one; an actor can conform to it all the same"
    static let nested: Self =
        """
        must be at the top level or public: a Swift optimizer bug crashes release builds that use a nested, \
        non-public service
        """
}

// Names. The subject is a requirement, a service, or the argument of `@Service`.
extension Reason {
    static let requirementName: Self =
        "cannot be the name of a requirement, because every proxy has a member of that name; rename it"
    static let serviceName: Self =
        "cannot be the name of a service, because every proxy has a type of that name; rename it"
    static let sameName: Self =
        "has the name and the labels of another requirement, and types are no part of a method's name; change a label"
    static func hiddenType(_ type: String) -> Self {
        "uses the type '\(type)', but every proxy has one of that name; write 'Module.\(type)' or rename yours"
    }
    static func repeatedError(_ type: String) -> Self { "lists '\(type)' twice; remove one" }
    static let wireName: Self =
        """
        cannot be the name of a service; write a literal like "Ledger" or "bank.Ledger": letters, digits and '_', the \
        first no digit, parts joined by dots, the first part not 'rpc'
        """
}

// Requirements of the wrong kind.
extension Reason {
    static let directive: Self =
        "cannot stand in a service: both ends must see the same requirements; write two protocols"
    static let initializer: Self = "cannot be remote; add a function that returns what it should make"
    static let subscriptMember: Self = "cannot be remote; write a function that is 'async throws'"
    static let associatedType: Self = "cannot be remote; name a concrete type"
    static let isStatic: Self = "cannot be static: calls go to an object; remove 'static'"
    static let isMutating: Self = "cannot be mutating: a proxy changes nothing in itself; remove 'mutating'"
    static func unsupportedModifier(_ modifier: String) -> Self { "cannot be '\(modifier)' in a service; remove it" }
    static let isGeneric: Self = "cannot be generic: both ends must know the types; name concrete types"
    static let settable: Self = "cannot be set remotely; write '{ get async throws }' and a function that sets it"
}

// Effects and results.
extension Reason {
    static let propertyEffects: Self =
        "must be 'async throws', because a remote call takes time and can fail; write '{ get async throws }'"
    static func resultWithoutEffects(_ result: String) -> Self {
        "must be 'async throws', because a remote call takes time and can fail; write 'async throws -> \(result)'"
    }
    static let onlyAsync: Self = "must also throw, because a remote call can fail; write 'async throws'"
    static let onlyThrows: Self = "must also be async, because a remote call takes time; write 'async throws'"
    static func typedThrows(_ type: String) -> Self {
        """
        cannot throw only \(type), because the connection can fail too; write 'throws' and \
        '@Service(errors: \(type).self)'
        """
    }
    static func unsupportedEffect(_ effect: String) -> Self { "cannot be '\(effect)'; write 'async throws'" }
}

// Parameters and types.
extension Reason {
    static let unnamedParameter: Self =
        "has a parameter without a name, but callers may send arguments by name; write '_ name: Type'"
    static func repeatedParameter(_ name: String) -> Self { "has two parameters named '\(name)'; choose another name" }
    static func reservedParameter(_ name: String) -> Self {
        "cannot have a parameter named '\(name)'; choose another name"
    }
    static func variadic(_ type: String) -> Self { "cannot be variadic; write '[\(type)]'" }
    static let defaultValue: Self =
        "cannot have a default value in a protocol; write an extension with a shorter function"

    /// Why a type cannot travel; nil for one that can.
    static func type(_ type: TypeSyntax) -> Self? {
        switch type.shape {
        case .value: nil
        case .void, .tuple: "cannot be a tuple; write a Codable struct"
        case .function: "cannot be a closure, which cannot be sent; declare a second @Service with a function for it"
        case .opaque: "cannot be opaque: both ends must know the type; name a concrete type"
        case .composition: "cannot be a composition of protocols; name a concrete type"
        case .metatype: "cannot be a metatype; write an enum with a case for each type"
        case .selfType: "cannot be Self: the other end has another type; name a concrete type"
        case .inlineArray: "cannot be an inline array, which is not Codable; write '[Element]'"
        case .implicitlyUnwrapped: "cannot be implicitly unwrapped; write '?'"
        case .pack: "cannot be a parameter pack; write an array"
        case .suppressed: "cannot be noncopyable: values are sent as copies; name a Codable type"
        case .untyped: "cannot be '\(type.spelling)': both ends must know the type; name a concrete type"
        case .existential: "is '\(type.spelling)': objects cannot be sent by reference yet; name a Codable type"
        case .stream: "is a stream, which cannot be remote yet; return an array or take a position to go on from"
        case .specified("inout"): "cannot be inout: values are sent as copies; return the new value"
        case .specified(let word): "cannot be '\(word)': values are sent as copies; remove it"
        }
    }
}

// Attributes.
extension Reason {
    static let availability: Self =
        "can only have '@available' with versions or 'deprecated'; move it to another protocol"
    static let misplacedMark: Self = "can only be attached to a function or property of a protocol"
    static let twoMarks: Self = "is marked twice; keep @ReadOnly if it changes nothing, else @Idempotent"
    static let objectiveC: Self = "cannot be @objc; remove it"
}
