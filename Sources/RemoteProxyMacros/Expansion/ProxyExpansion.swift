// A model in, the source of its proxy out: one method per generated item. `GeneratedCode.swift` of RemoteProxy lists what
// the generated source calls.

/// Writes the proxy of a protocol.
struct ProxyExpansion {
    private let model: ProtocolModel
    private var access: String { model.access.ofMembers }

    /// The attribute of proxies that need another conformer.
    static let otherConformer = "RemoteProxy._OtherConformer"

    init(_ model: ProtocolModel) { self.model = model }

    /// The whole expansion.
    var source: String {
        let table = MethodTableExpansion(model)
        let members =
            [subject()] + model.requirements.map(witness) + [table.table, weakProxy, methodNames, table.methods]
        return SourceLines.text(head + SourceLines.block(declaration(), SourceLines.paragraphs(members)))
    }

    private var head: [String] {
        var lines = model.documentation + model.attributes + (model.isOverlooked ? ["@\(Self.otherConformer)"] : [])
        if !model.inherited.isEmpty {
            let names = model.inherited.joined(separator: ", ")
            lines += [
                "// @Service sees only the text of '\(model.plainName)'. If a requirement is missing here, it is",
                "// one of \(names): inherited protocols must have no requirements of their own.",
            ]
        }
        return lines
    }

    /// The first line of the proxy.
    func declaration(conforms: Bool = true) -> String {
        let access = model.inheritsAccess || model.access == .internal ? "" : "\(model.access.rawValue) "
        let conformance = conforms ? "\(model.name), " : ""
        let isolation = model.isNonisolated ? "nonisolated " : ""
        let kind = model.isClass ? "final class" : "struct"
        return "\(access)\(isolation)\(kind) \(model.proxyName): \(conformance)RemoteProxy.ServiceProxy"
    }

    /// The requirements of `ServiceProxy`. They are not isolated, whatever the protocol is: a proxy is made and passed on
    /// anywhere.
    func subject(asService: String = "self") -> [String] {
        let subject = "any RemoteProxy.Subject<\(model.service)>"
        return [
            "\(access)typealias ProxiedService = \(model.service)",
            "\(access)nonisolated let proxySubject: \(subject)",
            "\(access)nonisolated init(subject: \(subject)) { self.proxySubject = subject }",
            "\(access)nonisolated var asService: \(model.service) { \(asService) }",
        ]
    }

    private func witness(of requirement: Requirement) -> [String] {
        let lines = requirement.documentation + requirement.availability.map(\.spelling) + requirement.attributes
        switch requirement.shape {
        case .call where requirement.isProperty: return lines + propertyWitness(requirement)
        case .call: return lines + callWitness(requirement)
        case .post: return lines + postWitness(requirement)
        }
    }

    private func propertyWitness(_ requirement: Requirement) -> [String] {
        let head = "\(access)nonisolated(nonsending) var \(requirement.spelling): \(requirement.result ?? "")"
        return SourceLines.block(head, SourceLines.block("get async throws", ["try await \(call(requirement))"]))
    }

    private func callWitness(_ requirement: Requirement) -> [String] {
        let result = requirement.result.map { " -> \($0)" } ?? ""
        let head = "\(access)nonisolated(nonsending) func \(signature(requirement)) async throws\(result)"
        let discard = requirement.result == nil ? "_ = " : ""
        return SourceLines.block(head, ["\(discard)try await \(call(requirement))"])
    }

    /// Isolated as the requirement is, so that an object on the same actor is called in place.
    private func postWitness(_ requirement: Requirement) -> [String] {
        let entry = "Self.\(model.methodsName).\(requirement.entryName)"
        let now = "{ $0.\(requirement.spelling)(\(requirement.arguments())) }"
        return SourceLines.block(
            "\(access)\(requirement.isNonisolated ? "nonisolated " : "")func \(signature(requirement))",
            ["self.proxySubject.post(\(entry), \(argumentsValue(requirement))) \(now)"])
    }

    private func call(_ requirement: Requirement) -> String {
        "self.proxySubject._call(Self.\(model.methodsName).\(requirement.entryName), \(argumentsValue(requirement)))"
    }

    private func argumentsValue(_ requirement: Requirement) -> String {
        guard !requirement.parameters.isEmpty else { return "RemoteProxy.NoArguments()" }
        let values = requirement.parameters.map { "\(SwiftName.label($0.name)): \($0.spelling)" }
        return "Self.\(model.methodsName).\(requirement.argumentsName)(\(values.joined(separator: ", ")))"
    }

    private func signature(_ requirement: Requirement) -> String {
        "\(requirement.spelling)(\(requirement.parameters.map(\.declaration).joined(separator: ", ")))"
    }

    /// A static function beside a requirement of that name is no conflict.
    private var weakProxy: [String] {
        [
            "/// A proxy that does not keep its object alive. When the object is gone, calls throw `RPCError` with the",
            "/// code `.subjectGone` and posts vanish.",
        ]
            + SourceLines.block(
                "\(access)nonisolated static func weak(_ object: \(model.service) & Swift.AnyObject) -> Self",
                ["Self(subject: RemoteProxy.WeakSubject<\(model.service)> { [weak object] in object })"])
    }

    /// A type of the proxy's own, so that a method is named with a leading dot. Types are qualified, since the protocol
    /// may have others of that name.
    var methodNames: [String] {
        let names = model.requirements.map { requirement in
            ["/// `\(requirement.fullName)`."] + requirement.availability.map(\.spelling) + [
                "\(access)static let \(requirement.entryName) = Self(name: \(SwiftName.literal(requirement.wireName)))"
            ]
        }
        let any = ["\(access)let name: Swift.String", "\(access)init(name: Swift.String) { self.name = name }"]
        return ["/// The names of \(model.plainName)'s methods, for code that names one without calling it."]
            + SourceLines.block(
                "\(access)nonisolated struct MethodName: RemoteProxy.ServiceMethodName",
                SourceLines.paragraphs([any] + names))
    }
}

/// Lines of generated Swift, indented as they nest.
enum SourceLines {
    /// A head, its body one step further in, and the closing brace. Only the first line of an element that has several
    /// is moved: the others may be inside a string.
    static func block(_ head: String, _ body: [String]) -> [String] {
        [head + " {"] + body.map { $0.isEmpty ? "" : "    " + $0 } + ["}"]
    }

    /// Groups with an empty line between them; groups without lines vanish.
    static func paragraphs(_ groups: [[String]]) -> [String] {
        Array(groups.filter { !$0.isEmpty }.joined(separator: [""]))
    }

    static func text(_ lines: [String]) -> String { lines.joined(separator: "\n") + "\n" }
}
