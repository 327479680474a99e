// A protocol as written in; a model that can be expanded out, and a refusal for each thing that cannot be remote.

/// Judges a protocol. There is one refusal per requirement: the first fault found.
struct ProtocolRules {
    private(set) var refusals: [Refusal] = []
    private let syntax: ProtocolSyntax
    private var name: String { syntax.plainName }

    init(_ syntax: ProtocolSyntax) { self.syntax = syntax }

    /// - Parameter surroundings: The declarations around the protocol, innermost first.
    mutating func model(surroundings: [EnclosingScope] = [], attribute: ServiceAttribute) -> ProtocolModel {
        var model = ProtocolModel(name: syntax.name, wireName: attribute.name ?? name)
        model.documentation = syntax.head.documentation
        model.errors = attribute.errors
        let access = ProtocolModel.Access(syntax.head.modifiers)
        model.access = access ?? surroundings.first?.defaultAccess ?? .internal
        model.inheritsAccess = access == nil
        model.isNonisolated = syntax.head.modifiers.contains("nonisolated")
        model.attributes = syntax.head.attributes.filter { $0.name == "available" || $0.isMainActor }.map(\.spelling)
        judgeProtocol()
        judge(attribute)
        judgeInheritance(&model)
        judgeVisibility(&model, surroundings)
        for member in syntax.members where !isPassedOver(member) {
            do {
                model.requirements.append(try RequirementRules(member).requirement())
            } catch {
                refusals.append(error)
            }
        }
        if let offset = syntax.faults.first { refuse(.notUnderstood, of: "@Service", at: offset) }
        nameEntries(of: &model)
        refusals.sort { Self.offset($0) < Self.offset($1) }
        return model
    }

    /// Of the protocol as a whole, unless another subject is given.
    private mutating func refuse(_ reason: Reason, of subject: String? = nil, at offset: Int? = nil) {
        refusals.append(Refusal(subject ?? "'\(name)'", reason, at: offset ?? syntax.nameOffset))
    }

    /// Primary associated types are refused in the protocol's head already.
    private func isPassedOver(_ member: MemberSyntax) -> Bool {
        member.kind == .typeAlias || member.kind == .associatedType && syntax.genericsOffset != nil
    }

    private static func offset(_ refusal: Refusal) -> Int {
        if case .declaration(let offset) = refusal.place { offset } else { 0 }
    }

    private mutating func judge(_ attribute: ServiceAttribute) {
        if let spelling = attribute.refusedName { refusals.append(Refusal(ofAttribute: spelling, .wireName)) }
        let hidden = attribute.errors.lazy.compactMap {
            TokenCursor($0.expression).firstUnqualified(of: ProtocolModel.memberTypes)
        }
        if let type = hidden.first { refusals.append(Refusal(ofAttribute: "'errors:'", .hiddenType(type))) }
        var types: Set<String> = []
        if let error = attribute.errors.first(where: { !types.insert($0.type).inserted }) {
            refusals.append(Refusal(ofAttribute: "'errors:'", .repeatedError(error.type)))
        }
    }

    private mutating func judgeProtocol() {
        if ProtocolModel.memberTypes.contains(name) { refuse(.serviceName) }
        if let offset = syntax.genericsOffset { refuse(.primaryAssociatedTypes, at: offset) }
        if let offset = syntax.whereOffset { refuse(.whereClause, at: offset) }
        for attribute in syntax.head.attributes where attribute.name == "objc" {
            refuse(.objectiveC, at: attribute.offset)
        }
    }

    /// A protocol that no other module can see needs another conformer, or the optimiser of release builds overlooks its
    /// proxy. At the top level `_OtherConformer` writes one. A nested protocol is refused instead: an extension of its
    /// proxy would not find the names of the types around it.
    private mutating func judgeVisibility(_ model: inout ProtocolModel, _ surroundings: [EnclosingScope]) {
        let isInlinable = syntax.head.attributes.contains { $0.name == "usableFromInline" }
        let isVisible = model.access == .public || model.access == .package || isInlinable
        if surroundings.isEmpty {
            model.isOverlooked = !isVisible
        } else if !isVisible || surroundings.contains(where: \.isHidden) {
            refuse(.nested)
        }
    }

    private mutating func judgeInheritance(_ model: inout ProtocolModel) {
        for (type, offset) in syntax.inherited {
            for part in type.spelling.split(separator: "&") {
                judge(String(part.filter { $0 != " " }.trimmingPrefix("Swift.")), at: offset, &model)
            }
        }
        if !model.isSendable, syntax.isInheritanceKnown, syntax.whereOffset == nil {
            refuse(.notSendable(name, syntax.inherited.map(\.type.spelling)))
        }
    }

    private mutating func judge(_ inherited: String, at offset: Int, _ model: inout ProtocolModel) {
        switch inherited {
        case "Sendable", "Error":
            model.isSendable = true
        case "AnyObject", "class":
            model.isClass = true
        case "Copyable", "Escapable", "SendableMetatype", "_Concurrency.SendableMetatype":
            break
        case "Actor", "AnyActor", "DistributedActor", "_Concurrency.Actor":
            model.isSendable = true
            model.isProxyable = false
            refuse(.inheritsActor, at: offset)
        case _ where Self.demanding.contains(inherited) || inherited.hasPrefix("~"):
            model.isProxyable = false
            refuse(.inheritsRequirements(inherited), at: offset)
        default:
            model.inherited.append(inherited)
        }
    }

    /// Protocols of the standard library that ask for more than a proxy has.
    private static let demanding: Set<String> = [
        "AdditiveArithmetic", "AsyncIteratorProtocol", "AsyncSequence", "BidirectionalCollection", "BinaryInteger",
        "BitwiseCopyable", "CaseIterable", "Codable", "CodingKey", "Collection", "Comparable",
        "CustomDebugStringConvertible", "CustomStringConvertible", "Decodable", "Encodable", "Equatable", "Executor",
        "GlobalActor", "Hashable", "Identifiable", "IteratorProtocol", "LosslessStringConvertible", "Numeric",
        "OptionSet", "RandomAccessCollection", "RandomNumberGenerator", "RawRepresentable", "SerialExecutor",
        "Sequence", "SetAlgebra", "Strideable", "TaskExecutor",
    ]

    /// Overloads get their full names; generated types get names that nothing in the protocol's text means.
    private mutating func nameEntries(of model: inout ProtocolModel) {
        let counts = Dictionary(grouping: model.requirements, by: \.name).mapValues(\.count)
        var entries: Set<String> = []
        var types = syntax.words
        var kept: [Requirement] = []
        model.methodsName = Self.free("Methods", &types)
        for var requirement in model.requirements {
            let name = requirement.name
            let isOverloaded = counts[name, default: 1] > 1
            requirement.wireName = isOverloaded ? requirement.fullName : name
            guard entries.insert(requirement.wireName).inserted else {
                refuse(.sameName, of: "'\(requirement.fullName)'", at: requirement.offset)
                continue
            }
            requirement.entryName = SwiftName.spelled(requirement.wireName)
            let labels = isOverloaded ? requirement.parameters.compactMap(\.label) : []
            let words = ([name] + labels).map { $0.prefix(1).uppercased() + $0.dropFirst() }
            requirement.argumentsName = SwiftName.spelled(Self.free(words.joined() + "Arguments", &types))
            kept.append(requirement)
        }
        model.requirements = kept
        model.descriptionName = Self.free("service", &entries)
    }

    private static func free(_ wanted: String, _ taken: inout Set<String>) -> String {
        var name = wanted
        while !taken.insert(name).inserted { name += "_" }
        return name
    }
}

/// A declaration around the protocol.
struct EnclosingScope {
    /// An extension may say what its members are.
    let defaultAccess: ProtocolModel.Access?
    /// Whether no other module sees what is inside. Of an extension only the compiler knows.
    let isHidden: Bool

    init(_ source: String) {
        var cursor = TokenCursor(source)
        let head = DeclarationHead(from: &cursor)
        let access = ProtocolModel.Access(head.modifiers)
        let isExtension = cursor.isAt("extension")
        let isVisible =
            access == .public || access == .package || head.modifiers.contains("open")
            || head.attributes.contains { $0.name == "usableFromInline" }
        defaultAccess = isExtension ? access : nil
        isHidden = !isExtension && !isVisible
    }
}
