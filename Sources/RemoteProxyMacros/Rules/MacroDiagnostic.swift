// Everything `@Service` may complain about, each message built by a function named after the fault. A message names
// the requirement, says why it cannot be remote, and what to write instead.

/// A message about a place in the source of the declaration.
struct MacroDiagnostic: Error, Equatable {
    enum Place: Equatable {
        /// Bytes from the start of the declaration's source.
        case declaration(Int)
        case attribute
    }

    var message: String
    var place: Place

    private init(_ message: String, at offset: Int) {
        self.message = message
        place = .declaration(offset)
    }
}

// The protocol as a whole.
extension MacroDiagnostic {
    static func notAProtocol() -> Self {
        var diagnostic = Self("@Service can only be attached to a protocol", at: 0)
        diagnostic.place = .attribute
        return diagnostic
    }

    static func notSendable(_ name: String, at offset: Int) -> Self {
        Self(
            "'\(name)' must inherit Sendable, because proxies cross tasks; write 'protocol \(name): Sendable'",
            at: offset)
    }

    static func primaryAssociatedTypes(_ name: String, at offset: Int) -> Self {
        Self("'\(name)' cannot be remote with primary associated types; name concrete types", at: offset)
    }

    static func whereClause(_ name: String, at offset: Int) -> Self {
        Self("'\(name)' cannot be remote with a where clause; list inherited protocols after the colon", at: offset)
    }

    static func inheritsRequirements(_ name: String, from inherited: String, at offset: Int) -> Self {
        Self("'\(name)' cannot inherit \(inherited), because a proxy cannot do what it requires; remove it", at: offset)
    }

    static func inheritsActor(_ name: String, at offset: Int) -> Self {
        Self(
            "'\(name)' cannot inherit Actor, because a proxy is not one; an actor can conform to it all the same",
            at: offset)
    }

    static func nested(_ name: String, at offset: Int) -> Self {
        Self(
            "'\(name)' must be at the top level or public: a Swift optimizer bug crashes release builds that use a nested, "
                + "non-public service", at: offset)
    }

    static func notUnderstood(at offset: Int) -> Self {
        Self("@Service does not understand this", at: offset)
    }
}

// Requirements of the wrong kind.
extension MacroDiagnostic {
    static func directive(_ keyword: String, at offset: Int) -> Self {
        Self(
            "'\(keyword)' cannot stand in a service: both ends must see the same requirements; write two protocols",
            at: offset)
    }

    static func initializer(at offset: Int) -> Self {
        Self("'init' cannot be remote; add a function that returns what it should make", at: offset)
    }

    static func subscriptMember(at offset: Int) -> Self {
        Self("'subscript' cannot be remote; write a function that is 'async throws'", at: offset)
    }

    static func associatedType(_ name: String, at offset: Int) -> Self {
        Self("associated type '\(name)' cannot be remote; name a concrete type", at: offset)
    }

    static func isStatic(_ name: String, at offset: Int) -> Self {
        Self("'\(name)' cannot be static: calls go to an object; remove 'static'", at: offset)
    }

    static func isMutating(_ name: String, at offset: Int) -> Self {
        Self("'\(name)' cannot be mutating: a proxy changes nothing in itself; remove 'mutating'", at: offset)
    }

    static func unsupportedModifier(_ name: String, _ modifier: String, at offset: Int) -> Self {
        Self("'\(name)' cannot be '\(modifier)' in a service; remove it", at: offset)
    }

    static func isGeneric(_ name: String, at offset: Int) -> Self {
        Self("'\(name)' cannot be generic: both ends must know the types; name concrete types", at: offset)
    }

    static func settable(_ name: String, at offset: Int) -> Self {
        Self("'\(name)' cannot be set remotely; write '{ get async throws }' and a function that sets it", at: offset)
    }

    static func propertyEffects(_ name: String, at offset: Int) -> Self {
        Self(
            "'\(name)' is fetched from elsewhere, which takes time and can fail; write '{ get async throws }'",
            at: offset)
    }

    static func reserved(_ name: String, at offset: Int) -> Self {
        Self(
            "a requirement cannot be named '\(name)', which means something else in a proxy; choose another name",
            at: offset)
    }

    /// The first name is that of the requirement or protocol.
    static func shadowedType(_ name: String, _ type: String, at offset: Int) -> Self {
        Self(
            "'\(name)' says '\(type)', which means something else in a proxy; write 'Module.\(type)' or rename the type",
            at: offset)
    }

    static func shadowedError(_ type: String) -> Self {
        var diagnostic = Self.shadowedType("errors:", type, at: 0)
        diagnostic.place = .attribute
        return diagnostic
    }

    static func repeatedError(_ type: String) -> Self {
        var diagnostic = Self("'errors:' lists '\(type)' twice; remove one", at: 0)
        diagnostic.place = .attribute
        return diagnostic
    }

    static func wireName(_ spelling: String) -> Self {
        var diagnostic = Self(
            "\(spelling) cannot be the name of a service; write a literal like \"Ledger\" or \"bank.Ledger\": letters, "
                + "digits and '_', the first no digit, parts joined by dots, the first part not 'rpc'", at: 0)
        diagnostic.place = .attribute
        return diagnostic
    }

    static func shadowedName(_ name: String, at offset: Int) -> Self {
        Self(
            "a service cannot be named '\(name)', which means something else in a proxy; choose another name",
            at: offset)
    }

    static func sameName(_ name: String, at offset: Int) -> Self {
        Self(
            "'\(name)' differs from another requirement only in its types, which do not travel; choose another label",
            at: offset)
    }
}

// Effects and results.
extension MacroDiagnostic {
    static func resultWithoutEffects(_ name: String, _ result: String, at offset: Int) -> Self {
        Self(
            "'\(name)' returns a result from elsewhere, which takes time and can fail; "
                + "write 'async throws -> \(result)'",
            at: offset)
    }

    static func onlyAsync(_ name: String, at offset: Int) -> Self {
        Self("'\(name)' is async but cannot fail, and remote calls can; write 'async throws'", at: offset)
    }

    static func onlyThrows(_ name: String, at offset: Int) -> Self {
        Self("'\(name)' throws but cannot wait, and remote calls take time; write 'async throws'", at: offset)
    }

    static func typedThrows(_ name: String, _ type: String, at offset: Int) -> Self {
        Self(
            "'\(name)' cannot throw only \(type), because the connection can fail too; "
                + "write 'throws' and '@Service(errors: \(type).self)'",
            at: offset)
    }

    static func unsupportedEffect(_ name: String, _ effect: String, at offset: Int) -> Self {
        Self("'\(name)' cannot be '\(effect)'; write 'async throws'", at: offset)
    }
}

// Parameters and types. `subject` is what has the type: a parameter, or the requirement's result.
extension MacroDiagnostic {
    static func unnamedParameter(of name: String, at offset: Int) -> Self {
        Self("'\(name)' has a parameter without a name, and names travel; write '_ name: Type'", at: offset)
    }

    static func repeatedParameter(_ parameter: String, of name: String, at offset: Int) -> Self {
        Self("'\(name)' has two parameters named '\(parameter)'; choose another name", at: offset)
    }

    static func reservedParameter(_ parameter: String, of name: String, at offset: Int) -> Self {
        Self("'\(name)' cannot have a parameter named '\(parameter)'; choose another name", at: offset)
    }

    static func variadic(_ subject: TypeSubject, _ type: String, at offset: Int) -> Self {
        Self("\(subject) cannot be variadic; write '[\(type)]'", at: offset)
    }

    static func defaultValue(_ subject: TypeSubject, at offset: Int) -> Self {
        Self(
            "\(subject) cannot have a default value in a protocol; write an extension with a shorter function",
            at: offset)
    }

    static func specifier(_ subject: TypeSubject, _ specifier: String, at offset: Int) -> Self {
        specifier == "inout"
            ? Self("\(subject) cannot be inout: values travel as copies; return the new value", at: offset)
            : Self("\(subject) cannot be '\(specifier)': values travel as copies; remove it", at: offset)
    }

    /// What a type is that cannot travel.
    static func type(_ subject: TypeSubject, _ type: TypeSyntax, at offset: Int) -> Self {
        let reason =
            switch type.shape {
            case .value, .void, .tuple: "cannot be a tuple; write a Codable struct"
            case .function: "cannot be a closure: code does not travel; write a function of another service"
            case .opaque: "cannot be opaque: both ends must know the type; name a concrete type"
            case .composition: "cannot be a composition of protocols; name a concrete type"
            case .metatype: "cannot be a metatype; write an enum with a case for each type"
            case .selfType: "cannot be Self: the other end has another type; name a concrete type"
            case .inlineArray: "cannot be an inline array, which is not Codable; write '[Element]'"
            case .implicitlyUnwrapped: "cannot be implicitly unwrapped; write '?'"
            case .pack: "cannot be a parameter pack; write an array"
            case .suppressed: "cannot be noncopyable: values travel as copies; name a Codable type"
            case .untyped: "cannot be '\(type.spelling)': both ends must know the type; name a concrete type"
            case .existential: "is '\(type.spelling)': objects cannot travel by reference yet; name a Codable type"
            case .stream: "is a stream, which cannot be remote yet; return an array or take a position to go on from"
            case .attributed(let word): "cannot be '\(word)'; remove it"
            }
        return Self("\(subject) \(reason)", at: offset)
    }
}

/// What a message about a type is about.
enum TypeSubject: CustomStringConvertible {
    case parameter(String, of: String)
    case result(of: String)
    case property(String)

    var description: String {
        switch self {
        case .parameter(let parameter, let function): "parameter '\(parameter)' of '\(function)'"
        case .result(let function): "the result of '\(function)'"
        case .property(let name): "'\(name)'"
        }
    }
}

// Attributes.
extension MacroDiagnostic {
    static func availability(_ name: String, at offset: Int) -> Self {
        Self(
            "'\(name)' can only have '@available' with versions or 'deprecated'; move it to another protocol",
            at: offset)
    }

    static func misplacedMark(_ mark: String) -> Self {
        var diagnostic = Self("@\(mark) can only be attached to a function or property of a protocol", at: 0)
        diagnostic.place = .attribute
        return diagnostic
    }

    static func twoMarks(_ name: String, at offset: Int) -> Self {
        Self("'\(name)' is marked twice; keep @ReadOnly if it changes nothing, else @Idempotent", at: offset)
    }

    static func objectiveC(_ name: String, at offset: Int) -> Self {
        Self("'\(name)' cannot be @objc; remove it", at: offset)
    }
}
