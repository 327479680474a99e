// What a peer may call at this end: wire names to methods. Written rarely, read by every request, so each connection
// reads a copy of its own and looks here only when something has changed.

import RPCSockets
import RPCWire
import Synchronization

package final class Exports: Sendable {
    private struct State {
        var table = ExportTable()
        /// What `rpc.discover` answers, once somebody has asked since the last change.
        var discovery: Bytes?
        /// Why proxies were not exported, by their paths. Forgotten when another of the same path is.
        var refusals: [(path: String, why: String)] = []

        /// Once for each path, and of a hundred at most: some program may take its names from its peers.
        mutating func note(_ refusal: String, of path: String) {
            guard refusals.count < 100, !refusals.contains(where: { $0.path == path }) else { return }
            refusals.append((path, refusal))
        }
    }

    private let state = Lock(State())
    /// Grows with every change.
    let version = Atomic(1)
    private let program: Program

    /// - Parameter program: what `rpc.discover` says the exports belong to.
    package init(of program: Program = Program()) { self.program = program }

    /// Makes a proxy's methods callable as `Service.method`, or as `Service[name].method`. A later export of the same
    /// protocol under the same name takes the place of the earlier one.
    /// - Returns: why the proxy was not exported, and then all is as before; nil when it was.
    @discardableResult
    package func add(_ proxy: some ServiceProxy, named object: String?) -> String? {
        let export = ExportTable.Export(proxy, named: object)
        let (replaced, refusal) = state.withLock { state in
            if let refusal = state.table.refusal(of: export) {
                state.note(refusal, of: export.path)
                return (nil as ExportTable.Export?, refusal as String?)
            }
            state.discovery = nil
            state.refusals.removeAll { $0.path == export.path }
            return (state.table.set(export), nil)
        }
        if refusal == nil { version.add(1, ordering: .releasing) }
        // What is exported no more is let go outside the lock: its end may export something in turn.
        withExtendedLifetime(replaced) {}
        return refusal
    }

    /// Takes back what is exported of this protocol under that name. Calls that were accepted run on.
    /// - Returns: whether there was anything.
    package func remove<Proxy: ServiceProxy>(_ proxy: Proxy.Type, named object: String?) -> Bool {
        let path = MethodSignature.path(of: Proxy.methodTable.service.name, on: object)
        let removed = state.withLock { state in
            state.discovery = nil
            return state.table.remove(path, of: Proxy.ProxiedService.self)
        }
        version.add(1, ordering: .releasing)
        return withExtendedLifetime(removed) { removed != nil }
    }

    /// Why the first proxy that is not exported is not; nil when all are.
    package var refusal: String? { state.withLock { $0.refusals.first?.why } }

    /// The method of that name, whatever the connections have seen.
    func method(named name: Bytes) -> _ExportedMethod? {
        name.withUnsafeBytes { name in state.withLock { $0.table.methods[name]?.method } }
    }

    /// How the object is held that has this wire name without a method.
    func object(_ path: String) -> (@Sendable (Duration) async throws -> Hold)? {
        state.withLock { $0.table.exports[path]?.hold }
    }

    var methods: MethodIndex { state.withLock { $0.table.methods } }

    /// What a service has of which there is an object; nil if there is none.
    func signatures(of service: String) -> [MethodSignature]? {
        state.withLock { $0.table.services[service]?.service.signatures }
    }

    /// What there is, for a caller that has asked for something else.
    var listing: String {
        // The others are not looked at: there may be thousands, and somebody may ask for nothing else.
        let (names, count) = state.withLock { ($0.table.paths.prefix(10), $0.table.paths.count) }
        if names.isEmpty { return "nothing is exported" }
        let first = "what there is: \(names.joined(separator: ", "))"
        return count > 10 ? "\(first) and \(count - 10) more, which rpc.discover lists" : first
    }

    var discovery: Bytes {
        state.withLock { state in
            if let known = state.discovery { return known }
            let document = Discovery.document(of: state.table.listed, in: program)
            state.discovery = document
            return document
        }
    }
}
