// One member of a protocol in; a requirement that can be remote out, or the first reason why it cannot.

/// Judges one member.
struct RequirementRules {
    private let member: MemberSyntax
    private var name: String { SwiftName.plain(member.name) }

    init(_ member: MemberSyntax) { self.member = member }

    func requirement() throws(Refusal) -> Requirement {
        try judgeKind()
        try judgeModifiers()
        if let type = member.hiddenType { throw refusal(.hiddenType(type)) }
        var requirement = member.kind == .property ? try property() : try function()
        requirement.isNonisolated = member.head.modifiers.contains("nonisolated")
        requirement.documentation = member.head.documentation
        requirement.offset = member.offset
        requirement.mark = try mark()
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

    private func mark() throws(Refusal) -> Requirement.Mark? {
        let marks = member.head.attributes.compactMap { attribute in
            Requirement.Mark(rawValue: String(attribute.name.trimmingPrefix("RemoteProxy.")))
        }
        if marks.count > 1 { throw refusal(.twoMarks) }
        return marks.first
    }

    private func property() throws(Refusal) -> Requirement {
        let getters = member.accessors.filter { $0.keyword == "get" }
        guard let type = member.result, let getter = getters.first, getters.count == member.accessors.count else {
            throw refusal(.settable)
        }
        if getter.modifiers.contains("mutating") { throw refusal(.isMutating) }
        guard getter.effects.isAsync, getter.effects.isThrowing else { throw refusal(.propertyEffects) }
        try judgeThrownType(getter.effects)
        if let reason = Reason.type(type) { throw refusal(reason) }
        return Requirement(shape: .call, isProperty: true, name: name, result: type.spelling)
    }

    private func function() throws(Refusal) -> Requirement {
        if member.hasGenerics || member.hasWhere { throw refusal(.isGeneric) }
        let parameters = try judgeParameters()
        let result = member.result.flatMap { $0.shape == .void ? nil : $0 }
        if let result, let reason = Reason.type(result) { throw refusal(reason, of: "the result of '\(name)'") }
        if let effect = member.effects.other { throw refusal(.unsupportedEffect(effect)) }
        try judgeThrownType(member.effects)
        let shape: Requirement.Shape
        switch (member.effects.isAsync, member.effects.isThrowing) {
        case (true, true): shape = .call
        case (true, false): throw refusal(.onlyAsync)
        case (false, true): throw refusal(.onlyThrows)
        case (false, false):
            if let result { throw refusal(.resultWithoutEffects(result.spelling)) }
            shape = .post
        }
        return Requirement(shape: shape, name: name, parameters: parameters, result: result?.spelling)
    }

    private func judgeThrownType(_ effects: EffectsSyntax) throws(Refusal) {
        guard let type = effects.thrownType, !["any Error", "any Swift.Error"].contains(type) else { return }
        throw refusal(.typedThrows(type))
    }

    private func judgeParameters() throws(Refusal) -> [Requirement.Parameter] {
        var parameters: [Requirement.Parameter] = []
        for parameter in member.parameters {
            let name = SwiftName.plain(parameter.name)
            let isRepeated = parameters.contains { $0.name == name }
            if let (subject, reason) = fault(of: parameter, name, isRepeated) {
                throw Refusal(subject, reason, at: parameter.offset)
            }
            let label = parameter.label == "_" ? nil : SwiftName.plain(parameter.label)
            parameters.append(.init(label: label, name: name, type: parameter.type.spelling))
        }
        return parameters
    }

    private func fault(of parameter: ParameterSyntax, _ name: String, _ isRepeated: Bool) -> (String, Reason)? {
        let function = "'\(self.name)'"
        let subject = "parameter '\(name)' of \(function)"
        if parameter.name == "_" { return (function, .unnamedParameter) }
        if name == "self" || name == "Self" { return (function, .reservedParameter(name)) }
        if parameter.isVariadic { return (subject, .variadic(parameter.type.spelling)) }
        if parameter.hasDefault { return (subject, .defaultValue) }
        if let reason = Reason.type(parameter.type) { return (subject, reason) }
        return isRepeated ? (function, .repeatedParameter(name)) : nil
    }

    private func carryAttributes(to requirement: inout Requirement) throws(Refusal) {
        for attribute in member.head.attributes {
            if let availability = Availability(attribute) {
                if availability.isUnsupported { throw refusal(.availability) }
                requirement.availability.append(availability)
            } else if attribute.name == "objc" {
                throw refusal(.objectiveC)
            } else if attribute.name == "discardableResult" || attribute.isMainActor && requirement.shape == .post {
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
            TokenCursor($0.spelling).firstUnqualified(of: ProtocolModel.memberTypes)
        }.first
    }
}
