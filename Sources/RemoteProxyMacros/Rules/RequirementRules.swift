// Judges one member of a protocol. The result is a requirement that can be remote, or the first reason why it cannot.

/// Judges one member.
struct RequirementRules {
    private let member: MemberSyntax
    private var name: String { member.name }

    init(_ member: MemberSyntax) { self.member = member }

    func requirement() throws(Refusal) -> Requirement {
        try judgeKind()
        try judgeModifiers()
        if let type = ProtocolModel.hiddenType(in: member) { throw refusal(Refusal.hiddenType(type)) }
        if member.kind == .property { try judgeProperty() } else { try judgeFunction() }
        var requirement = Requirement(member: member, effect: try effect())
        try carryAttributes(to: &requirement)
        return requirement
    }

    /// The subject is the member, unless another one and its place are given.
    private func refusal(_ reason: String, of subject: String? = nil, at offset: Int? = nil) -> Refusal {
        Refusal(message: "\(subject ?? "'\(name)'") \(reason)", offset: offset ?? member.offset)
    }

    private func judgeKind() throws(Refusal) {
        switch member.kind {
        case .function, .property, .typeAlias: return
        case .initializer: throw refusal("cannot be remote; add a function that returns what it should make")
        case .subscript: throw refusal("cannot be remote; write a function that is 'async throws'")
        case .associatedType:
            throw refusal("cannot be remote; name a concrete type", of: "associated type '\(name)'")
        case .directive:
            throw refusal("cannot stand in a service: both ends must see the same requirements; write two protocols")
        }
    }

    private func judgeModifiers() throws(Refusal) {
        for modifier in member.head.modifiers {
            switch modifier {
            case "static", "class": throw refusal("cannot be static: calls go to an object; remove 'static'")
            case "mutating": throw refusal(Self.isMutating)
            case "nonisolated", "nonisolated(nonsending)", "nonmutating": continue
            // The compiler itself refuses these in a protocol.
            case "public", "package", "internal", "fileprivate", "private", "open": continue
            default: throw refusal("cannot be '\(modifier)' in a service; remove it")
            }
        }
        if ProtocolModel.isReserved(name) {
            throw refusal(
                "cannot be the name of a requirement, because every proxy has a member of that name; rename it")
        }
    }

    private static let isMutating = "cannot be mutating: a proxy changes nothing in itself; remove 'mutating'"
    private static let isNoCall = "must be 'async throws', because a remote call takes time and can fail; write"

    private func judgeProperty() throws(Refusal) {
        let getters = member.accessors.filter { $0.keyword == "get" }
        guard let type = member.result, let getter = getters.first, getters.count == member.accessors.count else {
            throw refusal("cannot be set remotely; write '{ get async throws }' and a function that sets it")
        }
        if getter.modifiers.contains("mutating") { throw refusal(Self.isMutating) }
        guard getter.effects.isAsync, getter.effects.isThrowing else {
            throw refusal("\(Self.isNoCall) '{ get async throws }'")
        }
        try judgeThrownType(getter.effects)
        if let reason = Refusal.reason(against: type) { throw refusal(reason) }
    }

    private func judgeFunction() throws(Refusal) {
        if member.hasGenerics || member.hasWhere {
            throw refusal("cannot be generic: both ends must know the types; name concrete types")
        }
        try judgeParameters()
        let result = member.valueType
        if let reason = result.flatMap(Refusal.reason) { throw refusal(reason, of: "the result of '\(name)'") }
        let effects = member.effects
        if let effect = effects.other { throw refusal("cannot be '\(effect)'; write 'async throws'") }
        try judgeThrownType(effects)
        if result != nil, effects.isAsync, !effects.isThrowing {
            throw refusal("must also throw, because a remote call can fail; write 'async throws'")
        }
        if effects.isThrowing, !effects.isAsync {
            throw refusal(
                result == nil
                    ? "must also be async, because a remote call takes time; write 'async throws', or 'async' alone for a "
                        + "post, which no caller waits for"
                    : "must also be async, because a remote call takes time; write 'async throws'")
        }
        if let result, !effects.isPresent { throw refusal("\(Self.isNoCall) 'async throws -> \(result.spelling)'") }
    }

    private func judgeThrownType(_ effects: EffectsSyntax) throws(Refusal) {
        guard let type = effects.thrownType, !["any Error", "any Swift.Error"].contains(type) else { return }
        let fix = ["Never", "Swift.Never"].contains(type) ? "" : " and '@Service(errors: \(type).self)'"
        throw refusal("cannot throw only \(type), because the connection can fail too; write 'throws'\(fix)")
    }

    private func judgeParameters() throws(Refusal) {
        var names: Set<String> = []
        for parameter in member.parameters {
            let name = parameter.name
            if let reason = try reason(against: parameter) {
                throw refusal(reason, of: "parameter '\(name)' of '\(self.name)'", at: parameter.offset)
            }
            if !names.insert(name).inserted {
                throw refusal("has two parameters named '\(name)'; choose another name", at: parameter.offset)
            }
        }
    }

    /// Returns what is wrong with the parameter's type or form. Throws if its name is what makes the function wrong.
    private func reason(against parameter: ParameterSyntax) throws(Refusal) -> String? {
        switch parameter.name {
        case "_":
            let reason = "has a parameter without a name, but callers may send arguments by name; write '_ name: Type'"
            throw refusal(reason, at: parameter.offset)
        case let name where name == "self" || name == "Self":
            throw refusal("cannot have a parameter named '\(name)'; choose another name", at: parameter.offset)
        case _ where parameter.isVariadic:
            return "cannot be variadic; write '[\(parameter.type.spelling)]'"
        case _ where parameter.hasDefault:
            return "cannot have a default value in a protocol; write an extension with a shorter function"
        default:
            if case .closure(let closure) = parameter.type.shape {
                return ClosureRules.reason(against: closure, spelled: parameter.type.spelling)
            }
            return Refusal.reason(against: parameter.type)
        }
    }

    /// The case of `MethodSignature.Effect` that the mark stands for; nil without a mark.
    private func effect() throws(Refusal) -> String? {
        let effects = member.head.attributes.compactMap { attribute in
            ["ReadOnly": "readOnly", "Idempotent": "idempotent"][attribute.name.trimmingPrefix("RemoteProxy.")]
        }
        if effects.count > 1 {
            throw refusal("is marked twice; keep @ReadOnly if it changes nothing, else @Idempotent")
        }
        return effects.first
    }

    private func carryAttributes(to requirement: inout Requirement) throws(Refusal) {
        for attribute in member.head.attributes {
            if let availability = Availability(attribute) {
                if availability.isUnsupported {
                    throw refusal(
                        "can only have '@available' with versions or 'deprecated'; move it to another protocol")
                }
                requirement.availability.append(availability)
            } else if attribute.name == "objc" {
                throw refusal("cannot be @objc; remove it")
            } else if attribute.name == "discardableResult" || attribute.isMainActor && requirement.isPost {
                // A call runs wherever its caller runs. Only a post needs the actor of its requirement.
                requirement.attributes.append(attribute.spelling)
            }
        }
    }
}
