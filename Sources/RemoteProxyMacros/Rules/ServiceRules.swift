// A protocol as written in, a model that can be expanded out, with a message for each thing that cannot be remote.

/// Judges a protocol. One message per requirement: the first fault found.
struct ServiceRules {
    private(set) var diagnostics: [MacroDiagnostic] = []
    private let syntax: ProtocolSyntax
    private var plainName: String { SwiftName.plain(syntax.name) }

    init(_ syntax: ProtocolSyntax) { self.syntax = syntax }

    /// - Parameter surroundings: The declarations around the protocol, innermost first.
    mutating func model(surroundings: [EnclosingScope] = [], attribute: ServiceAttribute) -> ProtocolModel {
        var model = ProtocolModel(name: syntax.name)
        model.documentation = syntax.declaration.documentation
        model.wireName = attribute.name ?? plainName
        model.errors = attribute.errors
        let access = syntax.declaration.modifiers.lazy.compactMap(ProtocolModel.Access.init).first
        model.access = access ?? surroundings.first?.defaultAccess ?? .internal
        model.inheritsAccess = access == nil
        model.isNonisolated = syntax.declaration.modifiers.contains("nonisolated")
        model.attributes = syntax.declaration.attributes.filter(Self.isCarriedByType).map(\.spelling)
        judgeProtocol()
        judge(attribute)
        judgeInheritance(&model)
        judgeVisibility(&model, surroundings)
        for member in syntax.members where !isPassedOver(member) {
            do {
                model.requirements.append(try RequirementRules(member).requirement())
            } catch {
                diagnostics.append(error)
            }
        }
        diagnostics += syntax.faults.prefix(1).map { .notUnderstood(at: $0) }
        nameEntries(of: &model)
        diagnostics.sort { Self.offset($0) < Self.offset($1) }
        return model
    }

    /// Primary associated types are refused in the protocol's head already.
    private func isPassedOver(_ member: MemberSyntax) -> Bool {
        member.kind == .typeAlias || member.kind == .associatedType && syntax.genericsOffset != nil
    }

    private static func offset(_ diagnostic: MacroDiagnostic) -> Int {
        if case .declaration(let offset) = diagnostic.place { offset } else { 0 }
    }

    private static func isCarriedByType(_ attribute: AttributeSyntax) -> Bool {
        ["available", "MainActor", "Swift.MainActor", "_Concurrency.MainActor"].contains(attribute.name)
    }

    private mutating func judge(_ attribute: ServiceAttribute) {
        if let spelling = attribute.refusedName { diagnostics.append(.wireName(spelling)) }
        diagnostics += attribute.errors.compactMap {
            TokenCursor($0.expression).firstUnqualified(of: ServiceExpansion.memberTypes)
        }.prefix(1).map { .shadowedError($0) }
        var types: Set<String> = []
        diagnostics += attribute.errors.filter { !types.insert($0.type).inserted }.prefix(1).map {
            .repeatedError($0.type)
        }
    }

    private mutating func judgeProtocol() {
        if ServiceExpansion.memberTypes.contains(plainName) {
            diagnostics.append(.shadowedName(plainName, at: syntax.nameOffset))
        }
        if let offset = syntax.genericsOffset {
            diagnostics.append(.primaryAssociatedTypes(plainName, at: offset))
        }
        if let offset = syntax.whereOffset {
            diagnostics.append(.whereClause(plainName, at: offset))
        }
        for attribute in syntax.declaration.attributes where attribute.name == "objc" {
            diagnostics.append(.objectiveC(plainName, at: attribute.offset))
        }
    }

    /// A protocol that no other module can see needs another conformer, or the optimiser of release builds overlooks its
    /// proxy. At the top level `_OtherConformer` writes one. A nested protocol is refused instead: an extension of its
    /// proxy would not find the names of the types around it.
    private mutating func judgeVisibility(_ model: inout ProtocolModel, _ surroundings: [EnclosingScope]) {
        let isInlinable = syntax.declaration.attributes.contains { $0.name == "usableFromInline" }
        let isVisible = model.access == .public || model.access == .package || isInlinable
        if surroundings.isEmpty {
            model.isOverlooked = !isVisible
        } else if !isVisible || surroundings.contains(where: \.isHidden) {
            diagnostics.append(.nested(plainName, at: syntax.nameOffset))
        }
    }

    private mutating func judgeInheritance(_ model: inout ProtocolModel) {
        for inherited in syntax.inherited {
            let parts = inherited.spelling.split(separator: "&").map {
                String($0.filter { $0 != " " }.trimmingPrefix("Swift."))
            }
            for part in parts {
                switch part {
                case "Sendable", "Error":
                    model.isSendable = true
                case "AnyObject", "class":
                    model.isClass = true
                case "Copyable", "Escapable", "SendableMetatype", "_Concurrency.SendableMetatype":
                    break
                case "Actor", "AnyActor", "DistributedActor", "_Concurrency.Actor":
                    model.isSendable = true
                    model.isProxyable = false
                    diagnostics.append(.inheritsActor(plainName, at: inherited.offset))
                case _ where Self.demanding.contains(part) || part.hasPrefix("~"):
                    model.isProxyable = false
                    diagnostics.append(.inheritsRequirements(plainName, from: part, at: inherited.offset))
                default:
                    model.inherited.append(part)
                }
            }
        }
        if !model.isSendable, syntax.isInheritanceKnown, syntax.whereOffset == nil {
            diagnostics.append(.notSendable(plainName, at: syntax.nameOffset))
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
        func free(_ wanted: String, _ taken: inout Set<String>) -> String {
            var name = wanted
            while !taken.insert(name).inserted { name += "_" }
            return name
        }
        var kept: [Requirement] = []
        model.names.methods = free("Methods", &types)
        for var requirement in model.requirements {
            let name = requirement.name
            let isOverloaded = counts[name, default: 1] > 1
            requirement.wireName = isOverloaded ? requirement.fullName : name
            guard entries.insert(requirement.wireName).inserted else {
                diagnostics.append(.sameName(requirement.fullName, at: requirement.offset))
                continue
            }
            requirement.entryName = SwiftName.spelled(requirement.wireName)
            let labels = isOverloaded ? requirement.parameters.compactMap(\.label) : []
            let base = ([name] + labels).map(Self.capitalized).joined() + "Arguments"
            requirement.argumentsName = SwiftName.spelled(free(base, &types))
            kept.append(requirement)
        }
        model.requirements = kept
        model.names.service = free("service", &entries)
    }

    private static func capitalized(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }
}
