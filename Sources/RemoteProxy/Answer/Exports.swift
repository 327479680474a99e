// The objects that other ends may call here, by their wire names. Refuses objects that cannot be told apart from others.

import RPCSockets
import RPCWire
import Synchronization

package final class Exports: Sendable {
    /// The objects of one service. Part of the locked state.
    fileprivate final class ServiceExports {
        let index: ServiceIndex
        var unnamed: ExportedObject?
        var named = NameTable<ExportedObject>()

        init(_ index: ServiceIndex) { self.index = index }

        var count: Int { named.count + (unnamed == nil ? 0 : 1) }
        /// In no particular order, the unnamed one first.
        var objects: some Sequence<ExportedObject> { [unnamed].lazy.compactMap(\.self) + named.values }
    }

    /// An object that is not exported any more, and what would have ended its export.
    fileprivate struct Replaced {
        let object: ExportedObject
        let ending: Registration?
    }

    fileprivate struct State {
        /// The services of which there are objects, by name.
        var services: [String: ServiceExports] = [:]
        /// Their methods, by what they are called on the wire when no object is named.
        var methods = NameTable<(service: ServiceExports, position: Int)>()
        /// What ends an export with a caller's session, by the object's number.
        var endings: [Int: Registration] = [:]
        var count = 0
        var lastNumber = 0
        /// The answer to `rpc.discover`; nil until it is asked for after a change.
        var discovery: Bytes?
        /// The methods of which the log has been told that they block their thread. By name: `rpc.hold` and `rpc.supports` are made
        /// anew for each request.
        var blocking: Set<String> = []
        /// Why objects were not exported, with their paths. Removed when another object of the same path is exported.
        var refusals: [(path: String, why: String)] = []
    }

    /// What is exported. An object of its own: registrations refer to it weakly, because an exported object may keep its own
    /// registration. A weak reference to `Exports` would make all others slow.
    final class Table: Sendable {
        fileprivate let state = Lock(State())
        /// Increases with every change.
        let version = Atomic(1)
    }

    let table = Table()
    private var state: Lock<State> { table.state }
    private let program: Program
    private let isAtClient: Bool

    /// - Parameters:
    ///   - program: the program that `rpc.discover` names.
    ///   - isAtClient: whether these are the exports of a client, for its server.
    package init(of program: Program = Program(), isAtClient: Bool = false) {
        (self.program, self.isAtClient) = (program, isAtClient)
    }

    package var isEmpty: Bool { state.withLock { $0.count == 0 } }

    // MARK: changing

    /// Makes a proxy's methods callable as `Service.method`, or as `Service[name].method`. A later export of the same protocol
    /// under the same name replaces the earlier one.
    /// - Parameter caller: the export is taken back when the session of this caller is over.
    /// - Returns: takes the export back; calls that were accepted before run on. Has the reason if the proxy was refused, in
    ///   which case nothing has changed.
    @discardableResult
    package func add(
        _ proxy: some ServiceProxy, named name: String?, endingWith caller: Caller? = nil
    ) -> Registration {
        let (object, replaced, refusal) = state.withLock { state -> (ExportedObject?, Replaced?, String?) in
            let object = Exported.object(proxy, named: name, number: state.lastNumber + 1)
            if let refusal = state.refusal(of: object) {
                state.keep(refusal, of: object.path)
                return (nil, nil, refusal)
            }
            if !state.refusals.isEmpty { state.refusals.removeAll { [path = object.path] in $0.path == path } }
            return (object, state.set(object), nil)
        }
        guard let object else { return Registration(refusal: refusal ?? "") }
        table.version.add(1, ordering: .releasing)
        // Outside the lock: the deinit of the replaced object may export something in turn.
        withExtendedLifetime(replaced) { replaced?.ending?.cancel() }
        // The object itself is not kept, because it may keep the registration.
        let (index, number) = (object.index, object.number)
        let registration = Registration { [weak table] in table?.remove(index, name, number) }
        if let caller { end(object, with: caller, by: registration) }
        return registration
    }

    /// Has an export cancelled when the caller's session is over. The session forgets that when the export ends before.
    private func end(_ object: ExportedObject, with caller: Caller, by registration: Registration) {
        let ending = caller.whenGone { registration.cancel() }
        let isExported = state.withLock { state in
            guard state.object(object.index.service.name, object.name) === object else { return false }
            state.endings[object.number] = ending
            return true
        }
        if !isExported { ending.cancel() }
    }

    /// Why the first of the refused proxies was refused; nil when none was.
    package var refusal: String? { state.withLock { $0.refusals.first?.why } }

    // MARK: finding

    /// The method of that wire name and the object that it names; nil if there is none.
    func method(named name: WireName) -> (ExportedObject, ExportedMethod)? {
        state.withLock { state in
            guard let (service, position) = state.methods.value(name.method) else { return nil }
            let object = name.object.map { service.named.value(($0, .empty)) } ?? service.unnamed
            guard let object, let method = service.index.method(at: position) else { return nil }
            return (object, method)
        }
    }

    /// The object with this path, that is, a wire name without a method.
    func object(_ path: String) -> ExportedObject? {
        let service = path.prefix { $0 != "[" }
        guard service.endIndex < path.endIndex else { return state.withLock { $0.object(path, nil) } }
        guard path.hasSuffix("]") else { return nil }
        let name = String(path[path.index(after: service.endIndex)...].dropLast())
        return state.withLock { $0.object(String(service), name) }
    }

    /// The methods of a service of which there is an object; nil if there is none.
    func signatures(of service: String) -> [MethodSignature]? {
        state.withLock { $0.services[service]?.index.signatures }
    }

    /// Notes that a method has blocked its thread. False if that is known.
    func isNew(blocking method: ExportedMethod) -> Bool {
        state.withLock { [name = method.signature.wireName] in $0.blocking.insert(name).inserted }
    }

    // MARK: listing

    /// Says which end lacks an object, and how that end would export it: the caller may be at either end.
    var lack: String {
        isAtClient
            ? "the client has not exported it (client.export(…))" : "the server has not exported it (server.export(…))"
    }

    /// The wire names of the first exports, as a text for a caller that has asked for something else.
    var listing: String {
        let (first, count) = state.withLock { state in
            // Not all are sorted: there may be thousands, and a peer may ask for this with every message.
            (state.count <= 10 ? state.listed.map(\.path) : state.some(10).map(\.path), state.count)
        }
        if first.isEmpty { return "nothing is exported" }
        let list = "exported: \(first.joined(separator: ", "))"
        return count > 10 ? "\(list) and \(count - 10) more, which rpc.discover lists" : list
    }

    /// The answer to `rpc.discover`.
    var discovery: Bytes {
        state.withLock { state in
            if let known = state.discovery { return known }
            let document = Discovery.document(of: state.listed.map { ($0.name, $0.index.signatures) }, in: program)
            state.discovery = document
            return document
        }
    }
}

extension Exports.Table {
    /// Takes out the export of that number, unless it has been taken out or replaced.
    fileprivate func remove(_ index: ServiceIndex, _ name: String?, _ number: Int) {
        let removed = state.withLock { state -> Exports.Replaced? in
            guard let object = state.object(index.service.name, name), object.number == number else { return nil }
            return state.remove(object)
        }
        guard let removed else { return }
        version.add(1, ordering: .releasing)
        withExtendedLifetime(removed) { removed.ending?.cancel() }
    }
}

extension Exports.State {
    func object(_ service: String, _ name: String?) -> ExportedObject? {
        guard let exports = services[service] else { return nil }
        return name.map { exports.named[$0] } ?? exports.unnamed
    }

    /// Why an object must not be exported: its name is not allowed, or is confused with another. Nil when it may be exported.
    func refusal(of object: ExportedObject) -> String? {
        let index = object.index
        if let first = object.name?.first, "~#@".contains(first) {
            return "\(object.path) is not exported: a name that begins with '\(first)' is reserved; choose another"
        }
        if let other = services[index.service.name]?.index {
            // An object of a service that is exported already: the rest is known to be right.
            if other === index { return nil }
            return
                "\(object.path) is not exported: \(String(reflecting: index.type)) and \(String(reflecting: other.type)), "
                + "which is exported already, have the same name on the wire; give one of them another with @Service(name:)"
        }
        if let name = index.clash {
            return
                "\(object.path) is not exported: several of its methods, inherited or its own, are named \(name) on the wire and "
                + "are declared differently; rename one, or spell its types as the other does"
        }
        let unreachable = index.signatures.first { $0.name.contains { $0 == "." || $0 == "[" || $0 == "]" } }
        return unreachable.map {
            "\(object.path) is not exported: the name of its method \($0.wireName(on: object.name)) has a dot or a bracket"
        }
    }

    /// Notes a refusal, once for each path and a hundred at most: a program may take names from its peers.
    mutating func keep(_ refusal: String, of path: String) {
        guard refusals.count < 100, !refusals.contains(where: { $0.path == path }) else { return }
        refusals.append((path, refusal))
    }

    /// Adds an object.
    /// - Returns: the one that it replaces; nil if none.
    mutating func set(_ object: ExportedObject) -> Exports.Replaced? {
        let replaced = self.object(object.index.service.name, object.name).map { remove($0) }
        (discovery, lastNumber, count) = (nil, object.number, count + 1)
        let service = service(object.index)
        if let name = object.name { service.named.add(object, named: name) } else { service.unnamed = object }
        return replaced
    }

    /// The objects of a service, which is added if there are none yet.
    private mutating func service(_ index: ServiceIndex) -> Exports.ServiceExports {
        if let known = services[index.service.name] { return known }
        let service = Exports.ServiceExports(index)
        services[index.service.name] = service
        for (position, name) in index.wireNames.enumerated() { methods.add((service, position), named: name) }
        return service
    }

    /// Takes out an object that is exported.
    mutating func remove(_ object: ExportedObject) -> Exports.Replaced {
        let name = object.index.service.name
        (discovery, count) = (nil, count - 1)
        if let service = services[name] {
            if let name = object.name { service.named.remove(name) } else { service.unnamed = nil }
            if service.count == 0 {
                services[name] = nil
                for name in service.index.wireNames { methods.remove(name) }
            }
        }
        return Exports.Replaced(object: object, ending: endings.removeValue(forKey: object.number))
    }

    /// In the order of export.
    var listed: [ExportedObject] {
        services.values.flatMap(\.objects).sorted { $0.number < $1.number }
    }

    /// The first objects that are found.
    func some(_ count: Int) -> [ExportedObject] {
        var found: [ExportedObject] = []
        for service in services.values {
            found += service.objects.prefix(count - found.count)
            if found.count == count { break }
        }
        return found
    }
}
