// One member of a protocol in; a requirement that can be remote out, or the first reason why it cannot.

/// Judges one member.
struct RequirementRules {
    private let member: MemberSyntax
    private var name: String { member.name }

    init(_ member: MemberSyntax) { self.member = member }

    func requirement() throws(Refusal) -> Requirement {
        try judgeKind()
        try judgeModifiers()
        if let type = member.hiddenType { throw refusal(.hiddenType(type)) }
        if member.kind == .property { try judgeProperty() } else { try judgeFunction() }
        var requirement = Requirement(member: member, mark: try mark())
        try carryAttributes(to: &requirement)
        return requirement
    }

    /// Of the member as a whole, unless another subject is given.
    private func refusal(_ reason: Reason, of subject: String? = nil) -> Refusal {
        Refusal(subject ?? "'\(name)'", reason, at: member.offset)
    }

    private func judgeKind() throws(Refusal) {
        switch member.kind {
        case .function, .property, .typeAlias: return
        case .initializer: throw refusal(.initializer)
        case .subscript: throw refusal(.subscriptMember)
        case .associatedType: throw refusal(.associatedType, of: "associated type '\(name)'")
        case .directive: throw refusal(.directive)
        }
    }

    private func judgeModifiers() throws(Refusal) {
        for modifier in member.head.modifiers {
            switch modifier {
            case "static", "class": throw refusal(.isStatic)
            case "mutating": throw refusal(.isMutating)
            case "nonisolated", "nonisolated(nonsending)", "nonmutating": continue
            // The compiler itself refuses these in a protocol.
            case "public", "package", "internal", "fileprivate", "private", "open": continue
            default: throw refusal(.unsupportedModifier(modifier))
            }
        }
        if ProtocolModel.isReserved(name) { throw refusal(.requirementName) }
    }

    private func judgeProperty() throws(Refusal) {
        let getters = member.accessors.filter { $0.keyword == "get" }
        guard let type = member.result, let getter = getters.first, getters.count == member.accessors.count else {
            throw refusal(.settable)
        }
        if getter.modifiers.contains("mutating") { throw refusal(.isMutating) }
        guard getter.effects.isAsync, getter.effects.isThrowing else { throw refusal(.propertyEffects) }
        try judgeThrownType(getter.effects)
        if let reason = Reason.type(type) { throw refusal(reason) }
    }

    private func judgeFunction() throws(Refusal) {
        if member.hasGenerics || member.hasWhere { throw refusal(.isGeneric) }
        try judgeParameters()
        let result = member.valueType
        if let result, let reason = Reason.type(result) { throw refusal(reason, of: "the result of '\(name)'") }
        let effects = member.effects
        if let effect = effects.other { throw refusal(.unsupportedEffect(effect)) }
        try judgeThrownType(effects)
        if effects.isAsync, !effects.isThrowing { throw refusal(.onlyAsync) }
        if effects.isThrowing, !effects.isAsync { throw refusal(.onlyThrows) }
        if let result, !effects.isPresent { throw refusal(.resultWithoutEffects(result.spelling)) }
    }

    private func judgeThrownType(_ effects: EffectsSyntax) throws(Refusal) {
        guard let type = effects.thrownType, !["any Error", "any Swift.Error"].contains(type) else { return }
        throw refusal(.typedThrows(type))
    }

    private func judgeParameters() throws(Refusal) {
        var names: Set<String> = []
        for parameter in member.parameters {
            func refuse(_ subject: String, _ reason: Reason) -> Refusal {
                Refusal(subject, reason, at: parameter.offset)
            }
            let function = "'\(name)'"
            let subject = "parameter '\(parameter.name)' of \(function)"
            switch parameter.name {
            case "_": throw refuse(function, .unnamedParameter)
            case "self", "Self": throw refuse(function, .reservedParameter(parameter.name))
            default: break
            }
            if parameter.isVariadic { throw refuse(subject, .variadic(parameter.type.spelling)) }
            if parameter.hasDefault { throw refuse(subject, .defaultValue) }
            if let reason = Reason.type(parameter.type) { throw refuse(subject, reason) }
            guard names.insert(parameter.name).inserted else {
                throw refuse(function, .repeatedParameter(parameter.name))
            }
        }
    }

    private func mark() throws(Refusal) -> Requirement.Mark? {
        let marks = member.head.attributes.compactMap { attribute in
            Requirement.Mark(rawValue: String(attribute.name.trimmingPrefix("RemoteProxy.")))
        }
        if marks.count > 1 { throw refusal(.twoMarks) }
        return marks.first
    }

    private func carryAttributes(to requirement: inout Requirement) throws(Refusal) {
        for attribute in member.head.attributes {
            if let availability = Availability(attribute) {
                if availability.isUnsupported { throw refusal(.availability) }
                requirement.availability.append(availability)
            } else if attribute.name == "objc" {
                throw refusal(.objectiveC)
            } else if attribute.name == "discardableResult" || attribute.isMainActor && requirement.isPost {
                // A call runs wherever its caller is; only a post needs its requirement's actor.
                requirement.attributes.append(attribute.spelling)
            }
        }
    }
}

extension MemberSyntax {
    /// A type in the signature that means another one inside a proxy.
    var hiddenType: String? {
        (parameters.map(\.type) + [result].compactMap(\.self)).lazy.compactMap {
            ProtocolModel.hiddenType(in: $0.spelling)
        }.first
    }
}
