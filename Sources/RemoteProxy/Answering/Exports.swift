// What a peer may call at this end: wire names to methods. Written rarely, read by every request, so each connection
// reads a copy of its own and looks here only when something has changed.

import RPCWire
import Synchronization

package final class Exports: Sendable {
    private struct Table {
        var methods = MethodIndex()
        /// In the order of export, for discovery: the object's name and its methods.
        var services: [(object: String?, signatures: [MethodSignature])] = []
        /// What each service has, by its name: there may be thousands of objects of one.
        var signatures: [String: [MethodSignature]] = [:]
        /// How each object is held, by its wire name without a method.
        var holds: [String: @Sendable (Duration) async throws -> Hold] = [:]
        /// What `rpc.discover` answers, once somebody has asked since the last change.
        var discovery: Bytes?
    }

    private let table = Lock(Table())
    /// Grows with every change.
    let version = Atomic(1)

    package init() {}

    /// Makes a proxy's methods callable as `Service.method`, or as `Service[name].method`. A later export under the
    /// same name takes the place of the earlier one.
    package func add<Proxy: ServiceProxy>(_ proxy: Proxy, named object: String?) {
        let entries = Proxy.methodTable.entries
        let service = Proxy.methodTable.service.name
        let subject = proxy.proxySubject
        let replaced = table.withLock { table in
            let replaced = table
            for entry in entries {
                table.methods.set(Bytes(entry.signature.wireName(on: object)), entry._export(proxy))
            }
            table.services.removeAll { $0.object == object && $0.signatures.first?.service == service }
            table.services.append((object, entries.map(\.signature)))
            table.signatures[service] = entries.map(\.signature)
            table.holds[object.map { "\(service)[\($0)]" } ?? service] = { try await subject.hold(for: $0) }
            table.discovery = nil
            return replaced
        }
        // What nobody calls any more is let go outside the lock: its end may export something in turn.
        withExtendedLifetime(replaced) {}
        version.add(1, ordering: .releasing)
    }

    /// The method of that name, whatever the connections have seen.
    func method(named name: Bytes) -> _ExportedMethod? {
        name.withUnsafeBytes { name in table.withLock { $0.methods[name]?.method } }
    }

    /// How the object is held that has this wire name without a method.
    func object(_ name: String) -> (@Sendable (Duration) async throws -> Hold)? { table.withLock { $0.holds[name] } }

    var methods: MethodIndex { table.withLock { $0.methods } }

    var services: [(object: String?, signatures: [MethodSignature])] {
        table.withLock { $0.services }
    }

    /// What a service has of which there is an object; nil if there is none.
    func signatures(of service: String) -> [MethodSignature]? { table.withLock { $0.signatures[service] } }

    /// What there is, for somebody who has asked for something else.
    var listing: String {
        let services = services
        // The others are not looked at: there may be thousands, and somebody may ask for nothing else.
        let names = services.prefix(10).compactMap { $0.signatures.first?.path(on: $0.object) }
        if names.isEmpty { return "nothing is exported" }
        let first = "what there is: \(names.joined(separator: ", "))"
        return services.count > 10 ? "\(first) and \(services.count - 10) more, which rpc.discover lists" : first
    }

    var discovery: Bytes {
        table.withLock { table in
            if let known = table.discovery { return known }
            let document = Discovery.document(of: table.services)
            table.discovery = document
            return document
        }
    }
}
