// Exported proxies in, their methods by wire name out. Says which proxies cannot stand beside each other.

import RPCWire

struct ExportTable {
    /// One exported object.
    struct Export {
        let object: String?
        let service: Service
        let methods: [(name: Bytes, method: _ExportedMethod)]
        /// How the object is held.
        let hold: @Sendable (Duration) async throws -> Hold

        init<Proxy: ServiceProxy>(_ proxy: Proxy, named object: String?) {
            let entries = Proxy.methodTable.entries
            let subject = proxy.proxySubject
            self.object = object
            service = Service(
                name: Proxy.methodTable.service.name, type: Proxy.ProxiedService.self,
                signatures: entries.map(\.signature))
            methods = entries.map { (Bytes($0.signature.wireName(on: object)), $0._export(proxy)) }
            hold = { try await subject.hold(for: $0) }
        }

        /// The wire name without a method.
        var path: String { MethodSignature.path(of: service.name, on: object) }
    }

    /// What all exports of one name share: there may be thousands.
    struct Service {
        let name: String
        /// `any Greeter`.
        let type: Any.Type
        let signatures: [MethodSignature]
    }

    private(set) var methods = MethodIndex()
    /// By their paths.
    private(set) var exports: [String: Export] = [:]
    /// The paths in the order of export.
    private(set) var paths: [String] = []
    /// Each service of which there is an object, by its name.
    private(set) var services: [String: (service: Service, objects: Int)] = [:]

    /// Why an export would be mixed with what there is, or would have a name that is the protocol's own; nil when neither.
    func refusal(of export: Export) -> String? {
        if let object = export.object, let first = object.first, "~#@".contains(first) {
            return "\(export.path) is not exported: a name that begins with '\(first)' is reserved; choose another"
        }
        if let other = services[export.service.name]?.service, other.type != export.service.type {
            return "\(export.path) is not exported: \(String(reflecting: export.service.type)) and "
                + "\(String(reflecting: other.type)), which is exported already, have the same name on the wire; "
                + "give one of them another with @Service(name:)"
        }
        guard exports[export.path] == nil else { return nil }
        let taken = export.methods.first { method in method.name.withUnsafeBytes { methods[$0] != nil } }
        return taken.map { "\(export.path) is not exported: there is another method \($0.name) already" }
    }

    /// Adds an export.
    /// - Returns: the one whose place it takes.
    mutating func set(_ export: Export) -> Export? {
        let replaced = remove(export.path, of: export.service.type)
        for (name, method) in export.methods { methods.set(name, method) }
        exports[export.path] = export
        paths.append(export.path)
        services[export.service.name, default: (export.service, 0)].objects += 1
        return replaced
    }

    /// Takes out the export of that path, if it is of this type.
    mutating func remove(_ path: String, of type: Any.Type) -> Export? {
        guard let export = exports[path], export.service.type == type else { return nil }
        exports[path] = nil
        for (name, _) in export.methods { methods.remove(name) }
        paths.removeAll { $0 == path }
        let name = export.service.name
        services[name]?.objects -= 1
        if services[name]?.objects == 0 { services[name] = nil }
        return export
    }

    /// The object's name and the methods of each export, in the order of export.
    var listed: [(object: String?, signatures: [MethodSignature])] {
        paths.compactMap { exports[$0] }.map { ($0.object, $0.service.signatures) }
    }
}
