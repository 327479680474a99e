// Writes a stub for a refused protocol: a proxy that compiles, repeats the protocol's own text, and does nothing. Without it each
// use of the proxy would cause an error beside the message about the protocol.

/// Writes the stub of a proxy.
struct StubExpansion {
    private let model: ProtocolModel
    private var syntax: ProtocolSyntax { model.syntax }

    init(_ model: ProtocolModel) { self.model = model }

    /// The whole expansion.
    var source: SourceText {
        let witnesses = syntax.members.map(witness)
        // A proxy that cannot conform can at least be named, made and exported.
        let conforms = canInherit && !witnesses.contains(nil)
        let expansion = ProxyExpansion(named)
        let head = "\(model.memberAccess)nonisolated static"
        return """
            \(model.attributes)
            // This proxy does nothing, because its protocol was refused.
            \(expansion.declaration(conforms: conforms)) {
                \(expansion.subject(asService: conforms ? "self" : Self.nothing))
                \(head) var _methodTable: RemoteProxy._MethodTable<\(model.service)> { \(Self.nothing) }
                \(head) func weak(_ object: \(model.service) & Swift.AnyObject) -> Self { \(Self.nothing) }

                \(expansion.methodNames)

                \(conforms ? witnesses.compactMap(\.self) : [])
            }
            """
    }

    /// Qualified by its module, since the protocol may have a requirement of that name.
    private static let nothing = "Swift.fatalError()"

    /// The model with an entry for each refused requirement too, since the user's code may name those methods.
    private var named: ProtocolModel {
        var named = model
        var names = Set(model.requirements.map(\.wireName))
        for member in syntax.members where member.kind == .function || member.kind == .property {
            guard !member.head.modifiers.contains("static"), !ProtocolModel.isReserved(member.name),
                names.insert(member.name).inserted
            else { continue }
            named.requirements.append(Requirement(member: member, wireName: member.name))
        }
        return named
    }

    private var canInherit: Bool {
        model.isProxyable && syntax.genericsOffset == nil && syntax.whereOffset == nil && syntax.faults.isEmpty
    }

    /// Whether the member's text would not compile in a type. Mostly it does not compile in the protocol either.
    private func isUnspeakable(_ member: MemberSyntax) -> Bool {
        let names = member.parameters.map(\.name).filter { $0 != "_" }
        return ProtocolModel.isReserved(member.name) || ProtocolModel.hiddenType(in: member) != nil
            || Set(names).count != names.count
            || member.hasWhere && !member.hasGenerics || member.effects.other != nil
            || member.head.attributes.compactMap(Availability.init).contains(where: \.isUnsupported)
    }

    /// One member as a declaration that does nothing; an empty line where none is needed; nil where none can be written.
    private func witness(of member: MemberSyntax) -> String? {
        guard member.kind == .initializer || !isUnspeakable(member) else { return nil }
        let head = prefix(of: member) + member.source
        switch member.kind {
        case .typeAlias: return ""
        case .associatedType, .directive: return nil
        case .function, .initializer: return "\(head) { \(Self.nothing) }"
        case .property, .subscript:
            let accessors = member.accessors.map { "\($0.source) { \(Self.nothing) }" }
            return accessors.isEmpty ? nil : "\(head) { \(accessors.joined(separator: " ")) }"
        }
    }

    private func prefix(of member: MemberSyntax) -> String {
        let attributes = member.head.attributes.filter { $0.name == "available" }.map(\.spelling)
        let modifiers = member.head.modifiers.compactMap { modifier -> String? in
            switch modifier {
            case "class": "static"
            case "mutating": model.isClass ? nil : modifier
            case "static", "nonmutating", "prefix", "postfix", "nonisolated", "nonisolated(nonsending)": modifier
            default: nil
            }
        }
        return (attributes + modifiers).map { $0 + " " }.joined() + model.memberAccess
    }
}
