// One member of a protocol in, a requirement that can be remote out, or the first reason why it cannot.

/// Judges one member.
struct RequirementRules {
    private let member: MemberSyntax
    private var name: String { SwiftName.plain(member.name) }

    init(_ member: MemberSyntax) { self.member = member }

    func requirement() throws(MacroDiagnostic) -> Requirement {
        try judgeKind()
        try judgeModifiers()
        if let type = member.shadowedType { throw .shadowedType(name, type, at: member.offset) }
        var requirement = member.kind == .property ? try property() : try function()
        requirement.isNonisolated = member.head.modifiers.contains("nonisolated")
        requirement.documentation = member.head.documentation
        requirement.offset = member.offset
        requirement.mark = try mark()
        try carryAttributes(to: &requirement)
        return requirement
    }

    private func judgeKind() throws(MacroDiagnostic) {
        switch member.kind {
        case .function, .property, .typeAlias: return
        case .initializer: throw .initializer(at: member.offset)
        case .subscript: throw .subscriptMember(at: member.offset)
        case .associatedType: throw .associatedType(name, at: member.offset)
        case .directive(let keyword): throw .directive(keyword, at: member.offset)
        }
    }

    private func judgeModifiers() throws(MacroDiagnostic) {
        for modifier in member.head.modifiers {
            switch modifier {
            case "static", "class": throw .isStatic(name, at: member.offset)
            case "mutating": throw .isMutating(name, at: member.offset)
            case "nonisolated", "nonisolated(nonsending)", "nonmutating": continue
            // The compiler itself refuses these in a protocol.
            case "public", "package", "internal", "fileprivate", "private", "open": continue
            default: throw .unsupportedModifier(name, modifier, at: member.offset)
            }
        }
        if Self.isReserved(name) { throw .reserved(name, at: member.offset) }
    }

    private func mark() throws(MacroDiagnostic) -> Requirement.Mark? {
        let marks = member.head.attributes.compactMap { attribute in
            Requirement.Mark(rawValue: String(attribute.name.trimmingPrefix("RemoteProxy.")))
        }
        if marks.count > 1 { throw .twoMarks(name, at: member.offset) }
        return marks.first
    }

    private func property() throws(MacroDiagnostic) -> Requirement {
        guard let type = member.result else { throw .notUnderstood(at: member.offset) }
        let getters = member.accessors.filter { $0.keyword == "get" }
        guard getters.count == member.accessors.count, let getter = getters.first else {
            throw .settable(name, at: member.offset)
        }
        if getter.modifiers.contains("mutating") { throw .isMutating(name, at: member.offset) }
        guard getter.effects.isAsync, getter.effects.isThrowing else {
            throw .propertyEffects(name, at: member.offset)
        }
        try judgeThrownType(getter.effects)
        guard type.shape == .value else { throw .type(.property(name), type, at: member.offset) }
        return Requirement(shape: .call, isProperty: true, name: name, result: type.spelling)
    }

    private func function() throws(MacroDiagnostic) -> Requirement {
        if member.hasGenerics || member.hasWhere { throw .isGeneric(name, at: member.offset) }
        let parameters = try judgeParameters()
        let result = member.result.flatMap { $0.shape == .void ? nil : $0 }
        if let result, result.shape != .value { throw .type(.result(of: name), result, at: member.offset) }
        if let effect = member.effects.other { throw .unsupportedEffect(name, effect, at: member.offset) }
        try judgeThrownType(member.effects)
        let shape: Requirement.Shape
        switch (member.effects.isAsync, member.effects.isThrowing) {
        case (true, true): shape = .call
        case (true, false): throw .onlyAsync(name, at: member.offset)
        case (false, true): throw .onlyThrows(name, at: member.offset)
        case (false, false):
            if let result { throw .resultWithoutEffects(name, result.spelling, at: member.offset) }
            shape = .post
        }
        return Requirement(shape: shape, name: name, parameters: parameters, result: result?.spelling)
    }

    private func judgeThrownType(_ effects: EffectsSyntax) throws(MacroDiagnostic) {
        guard let type = effects.thrownType, !["any Error", "any Swift.Error"].contains(type) else { return }
        throw .typedThrows(name, type, at: member.offset)
    }

    private func judgeParameters() throws(MacroDiagnostic) -> [Requirement.Parameter] {
        var parameters: [Requirement.Parameter] = []
        for parameter in member.parameters {
            try judge(parameter)
            let name = SwiftName.plain(parameter.name)
            guard !parameters.contains(where: { $0.name == name }) else {
                throw .repeatedParameter(name, of: self.name, at: parameter.offset)
            }
            let label = parameter.label == "_" ? nil : SwiftName.plain(parameter.label)
            parameters.append(.init(label: label, name: name, type: parameter.type.spelling))
        }
        return parameters
    }

    private func judge(_ parameter: ParameterSyntax) throws(MacroDiagnostic) {
        let name = SwiftName.plain(parameter.name)
        guard parameter.name != "_" else { throw .unnamedParameter(of: self.name, at: parameter.offset) }
        guard !["self", "Self"].contains(name) else {
            throw .reservedParameter(name, of: self.name, at: parameter.offset)
        }
        let subject = TypeSubject.parameter(name, of: self.name)
        // A closure is refused as one, however it is passed.
        if parameter.type.shape == .function { throw .type(subject, parameter.type, at: parameter.offset) }
        if let specifier = parameter.specifiers.first {
            throw .specifier(subject, specifier, at: parameter.offset)
        }
        if parameter.isVariadic { throw .variadic(subject, parameter.type.spelling, at: parameter.offset) }
        if parameter.hasDefault { throw .defaultValue(subject, at: parameter.offset) }
        guard parameter.type.shape == .value else { throw .type(subject, parameter.type, at: parameter.offset) }
    }

    private func carryAttributes(to requirement: inout Requirement) throws(MacroDiagnostic) {
        for attribute in member.head.attributes {
            switch attribute.name {
            case "available":
                let availability = Availability(attribute.arguments ?? "")
                if availability.isUnsupported { throw .availability(name, at: member.offset) }
                if availability.isDeprecated { requirement.isDeprecated = true }
                requirement.conditions += availability.condition.map { [$0] } ?? []
                requirement.availability.append(attribute.spelling)
            case "discardableResult":
                requirement.attributes.append(attribute.spelling)
            // A call runs wherever its caller is; only a post needs its requirement's actor.
            case "MainActor", "Swift.MainActor", "_Concurrency.MainActor":
                guard requirement.shape == .post else { continue }
                requirement.attributes.append(attribute.spelling)
            case "objc":
                throw .objectiveC(name, at: member.offset)
            default:
                continue
            }
        }
    }

    /// Whether the generated proxy has a member of that name itself, or every Swift type has.
    static func isReserved(_ name: String) -> Bool {
        [
            "proxySubject", "asService", "methodTable", "init", "self", "Self", "Type", "Protocol",
        ].contains(name) || ServiceExpansion.memberTypes.contains(name)
    }
}
