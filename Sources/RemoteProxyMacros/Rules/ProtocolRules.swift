// Judges a protocol as a whole. The result is a model for the expansion, and a refusal for each part that cannot be remote.

/// Judges a protocol. A requirement is refused at most once, for the first fault found.
struct ProtocolRules {
    private(set) var model: ProtocolModel
    private(set) var refusals: [Refusal] = []
    private var syntax: ProtocolSyntax { model.syntax }
    private var name: String { model.plainName }

    /// - Parameter surroundings: The declarations around the protocol, innermost first.
    init(_ syntax: ProtocolSyntax, surroundings: [EnclosingScope], attribute: ServiceAttribute) {
        let access = ProtocolModel.Access(syntax.head.modifiers) ?? surroundings.first?.defaultAccess ?? .internal
        model = ProtocolModel(syntax: syntax, attribute: attribute, access: access)
        judgeProtocol()
        judge(attribute)
        judgeInheritance()
        judgeVisibility(surroundings)
        // Primary associated types are refused in the protocol's head already.
        let isGeneric = syntax.genericsOffset != nil
        for member in syntax.members where member.kind != .typeAlias && !(isGeneric && member.kind == .associatedType) {
            do {
                model.requirements.append(try RequirementRules(member).requirement())
            } catch {
                refusals.append(error)
            }
        }
        if let offset = syntax.faults.first {
            let reason = "cannot read this; a service consists of functions and properties without bodies"
            refuse(reason, of: "@Service", at: offset)
        }
        nameEntries()
        refusals.sort { ($0.offset ?? 0) < ($1.offset ?? 0) }
    }

    /// The subject is the protocol, unless another one is given.
    private mutating func refuse(_ reason: String, of subject: String? = nil, at offset: Int? = nil) {
        refusals.append(
            Refusal(message: "\(subject ?? "'\(name)'") \(reason)", offset: offset ?? syntax.nameOffset))
    }

    private mutating func judge(_ attribute: ServiceAttribute) {
        if let spelling = attribute.refusedName {
            let message = """
                \(spelling) cannot be the name of a service; write a literal like "Ledger" or "bank.Ledger": letters, \
                digits and '_', the first no digit, parts joined by dots, the first part not 'rpc'
                """
            refusals.append(Refusal(message: message))
        }
        let hidden = attribute.errors.lazy.compactMap { ProtocolModel.hiddenType(in: $0.expression) }.first
        if let hidden { refusals.append(Refusal(message: "'errors:' \(Refusal.hiddenType(hidden))")) }
        var types: Set<String> = []
        if let error = attribute.errors.first(where: { !types.insert($0.type).inserted }) {
            refusals.append(Refusal(message: "'errors:' lists '\(error.type)' twice; remove one"))
        }
    }

    private mutating func judgeProtocol() {
        if ProtocolModel.memberTypes.contains(name) {
            refuse("cannot be the name of a service, because every proxy has a type of that name; rename it")
        }
        if let offset = syntax.genericsOffset {
            refuse("cannot be remote with primary associated types; name concrete types", at: offset)
        }
        if let offset = syntax.whereOffset {
            refuse("cannot be remote with a where clause; list inherited protocols after the colon", at: offset)
        }
        for attribute in syntax.head.attributes where attribute.name == "objc" {
            refuse("cannot be @objc; remove it", at: attribute.offset)
        }
    }

    /// If no other module can see a protocol, the optimiser of release builds overlooks its proxy, unless there is another
    /// conformer. At the top level `_OtherConformer` writes one. A nested protocol is refused: an extension of its proxy
    /// would not find the names of the types around it.
    private mutating func judgeVisibility(_ surroundings: [EnclosingScope]) {
        let isVisible = EnclosingScope.isVisible(syntax.head, model.access)
        if surroundings.isEmpty {
            model.isOverlooked = !isVisible
        } else if !isVisible || surroundings.contains(where: \.isHidden) {
            refuse(
                "must be at the top level or public: a Swift optimizer bug crashes release builds that use a nested, "
                    + "non-public service")
        }
    }

    private mutating func judgeInheritance() {
        for (type, offset) in syntax.inherited {
            for part in type.spelling.split(separator: "&") {
                judge(String(part.filter { $0 != " " }.trimmingPrefix("Swift.")), at: offset)
            }
        }
        // An inherited protocol may be Sendable. Only the compiler knows that.
        if !model.isSendable, model.inherited.isEmpty, syntax.isInheritanceKnown, syntax.whereOffset == nil {
            let list = (syntax.inherited.map(\.type.spelling) + ["Sendable"]).joined(separator: ", ")
            refuse("must inherit Sendable, because tasks share proxies; write 'protocol \(name): \(list)'")
        }
    }

    private mutating func judge(_ inherited: String, at offset: Int) {
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
            refuse(
                "cannot inherit Actor, because a proxy is not one; an actor can conform to it all the same", at: offset)
        case _ where Self.demanding.contains(inherited) || inherited.hasPrefix("~"):
            model.isProxyable = false
            refuse("cannot inherit \(inherited), because a proxy cannot do what it requires; remove it", at: offset)
        default:
            model.inherited.append(inherited)
        }
    }

    /// Protocols of the standard library that require more than a proxy has.
    static let demanding: Set<String> = [
        "AdditiveArithmetic", "AsyncIteratorProtocol", "AsyncSequence", "BidirectionalCollection", "BinaryInteger",
        "BitwiseCopyable", "CaseIterable", "Codable", "CodingKey", "Collection", "Comparable",
        "CustomDebugStringConvertible", "CustomStringConvertible", "Decodable", "Encodable", "Equatable", "Executor",
        "GlobalActor", "Hashable", "Identifiable", "IteratorProtocol", "LosslessStringConvertible", "Numeric",
        "OptionSet", "RandomAccessCollection", "RandomNumberGenerator", "RawRepresentable", "SerialExecutor",
        "Sequence", "SetAlgebra", "Strideable", "TaskExecutor",
    ]

    /// Overloads get their full names. The generated enum gets a name that does not occur in the protocol's text.
    private mutating func nameEntries() {
        let counts = Dictionary(grouping: model.requirements, by: \.name).mapValues(\.count)
        var entries: Set<String> = []
        var words = syntax.words
        var named: [Requirement] = []
        model.methodsName = Self.free("Methods", &words)
        for var requirement in model.requirements {
            let isOverloaded = counts[requirement.name, default: 1] > 1
            requirement.wireName = isOverloaded ? requirement.fullName : requirement.name
            guard entries.insert(requirement.wireName).inserted else {
                let reason = """
                    has the name and the labels of another requirement, and types are no part of a method's name; \
                    change a label
                    """
                refuse(reason, of: "'\(requirement.fullName)'", at: requirement.member.offset)
                continue
            }
            requirement.number = named.count
            named.append(requirement)
        }
        model.requirements = named
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
    /// The access of the members, if it is an extension that gives one.
    let defaultAccess: ProtocolModel.Access?
    /// Whether no other module sees its members. For an extension only the compiler knows that.
    let isHidden: Bool

    init(_ source: String) {
        var cursor = TokenCursor(source)
        let head = DeclarationHead(from: &cursor)
        let access = ProtocolModel.Access(head.modifiers)
        let isExtension = cursor.isAt("extension")
        defaultAccess = isExtension ? access : nil
        isHidden = !isExtension && !head.modifiers.contains("open") && !Self.isVisible(head, access)
    }

    /// Whether other modules see a declaration that begins so.
    static func isVisible(_ head: DeclarationHead, _ access: ProtocolModel.Access?) -> Bool {
        access == .public || access == .package || head.attributes.contains { $0.name == "usableFromInline" }
    }
}
