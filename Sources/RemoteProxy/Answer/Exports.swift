// The objects that other ends may call here, by their wire names. Refuses objects that cannot be told apart from others.

import RPCSockets
import RPCWire
import Synchronization

package final class Exports: Sendable {
    fileprivate struct State {
        struct Entry {
            let object: ExportedObject
            /// Increases from one export to the next.
            let number: Int
        }

        /// By their paths, such as `Greeter` or `Greeter[left]`.
        var entries: [String: Entry] = [:]
        /// One object of each service and the number of its objects, by the service's name.
        var services: [String: (example: ExportedObject, count: Int)] = [:]
        var lastNumber = 0
        /// The length of the longest wire name of a method so far, in bytes.
        var longestName = 0
        /// The answer to `rpc.discover`; nil until it is asked for after a change.
        var discovery: Bytes?
        /// Why objects were not exported, with their paths. Removed when another object of the same path is exported.
        var refusals: [(path: String, why: String)] = []
    }

    private let state = Lock(State())
    /// Increases with every change.
    let version = Atomic(1)
    private let program: Program
    private let isAtClient: Bool

    /// - Parameters:
    ///   - program: the program that `rpc.discover` names.
    ///   - isAtClient: whether these are the exports of a client, for its server.
    package init(of program: Program = Program(), isAtClient: Bool = false) {
        (self.program, self.isAtClient) = (program, isAtClient)
    }

    // MARK: changing

    /// Makes a proxy's methods callable as `Service.method`, or as `Service[name].method`. A later export of the same protocol
    /// under the same name replaces the earlier one.
    /// - Returns: why the proxy was not exported, in which case nothing has changed; nil when it was exported.
    @discardableResult
    package func add(_ proxy: some ServiceProxy, named name: String?) -> String? {
        let object = ExportedObject(proxy, named: name)
        let (replaced, refusal) = state.withLock { state -> (ExportedObject?, String?) in
            if let refusal = state.refusal(of: object) {
                state.note(refusal, of: object.path)
                return (nil, refusal)
            }
            state.refusals.removeAll { $0.path == object.path }
            return (state.set(object), nil)
        }
        if refusal == nil { version.add(1, ordering: .releasing) }
        // The replaced object is released outside the lock, since its deinit may export something in turn.
        withExtendedLifetime(replaced) {}
        return refusal
    }

    /// Takes back the export of this protocol under that name. Calls that were accepted before run on.
    /// - Returns: whether there was such an export.
    package func remove<Proxy: ServiceProxy>(_ proxy: Proxy.Type, named name: String?) -> Bool {
        let path = MethodSignature.path(of: Proxy.methodTable.service.name, on: name)
        let removed = state.withLock { $0.remove(path, of: Proxy.ProxiedService.self) }
        version.add(1, ordering: .releasing)
        return withExtendedLifetime(removed) { removed != nil }
    }

    /// Why the first of the refused proxies was refused; nil when none was.
    package var refusal: String? { state.withLock { $0.refusals.first?.why } }

    // MARK: finding

    /// The method of that wire name; nil if there is none.
    func method(named name: Bytes) -> ExportedMethod? { name.withUnsafeBytes { method(named: $0) } }

    /// Does the same with a name that is part of a message.
    func method(named name: UnsafeRawBufferPointer) -> ExportedMethod? {
        // The method comes after the last bracket, or else after the last dot. A method's name has neither; a service's name
        // may have dots, and an object's name both.
        let bracket = name.lastIndex(of: UInt8(ascii: "]")).map { $0 + 1 }
        guard let dot = bracket ?? name.lastIndex(of: UInt8(ascii: ".")), dot < name.count,
            name[dot] == UInt8(ascii: ".")
        else { return nil }
        // A longer name is not turned into a string: comparing it can take time that grows with the square of its length.
        guard name.count <= state.withLock({ $0.longestName }) else { return nil }
        let path = String(decoding: name[..<dot], as: UTF8.self)
        let object = state.withLock { $0.entries[path]?.object }
        return object?.method(named: String(decoding: name[(dot + 1)...], as: UTF8.self))
    }

    /// The object with this path, that is, a wire name without a method.
    func object(_ path: String) -> ExportedObject? { state.withLock { $0.entries[path]?.object } }

    /// The methods of a service of which there is an object; nil if there is none.
    func signatures(of service: String) -> [MethodSignature]? {
        state.withLock { $0.services[service]?.example.signatures }
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
            (
                state.entries.count <= 10 ? state.listed.map(\.path) : Array(state.entries.keys.prefix(10)),
                state.entries.count
            )
        }
        if first.isEmpty { return "nothing is exported" }
        let list = "exported: \(first.joined(separator: ", "))"
        return count > 10 ? "\(list) and \(count - 10) more, which rpc.discover lists" : list
    }

    /// The answer to `rpc.discover`.
    var discovery: Bytes {
        state.withLock { state in
            if let known = state.discovery { return known }
            let document = Discovery.document(of: state.listed.map { ($0.name, $0.signatures) }, in: program)
            state.discovery = document
            return document
        }
    }
}

extension Exports.State {
    /// Why an object must not be exported: its name is not allowed, or is confused with another. Nil when it may be exported.
    fileprivate func refusal(of object: ExportedObject) -> String? {
        if let first = object.name?.first, "~#@".contains(first) {
            return "\(object.path) is not exported: a name that begins with '\(first)' is reserved; choose another"
        }
        if let other = services[object.service]?.example, other.type != object.type {
            return
                "\(object.path) is not exported: \(String(reflecting: object.type)) and \(String(reflecting: other.type)), "
                + "which is exported already, have the same name on the wire; give one of them another with @Service(name:)"
        }
        if let name = object.clash {
            return
                "\(object.path) is not exported: several of its methods, inherited or its own, are named \(name) on the wire and "
                + "are declared differently; rename one, or spell its types as the other does"
        }
        let unreachable = object.signatures.first { $0.name.contains { $0 == "." || $0 == "]" } }
        return unreachable.map {
            "\(object.path) is not exported: the name of its method \($0.wireName(on: object.name)) has a dot or a bracket"
        }
    }

    /// Notes a refusal, once for each path and a hundred at most: a program may take names from its peers.
    fileprivate mutating func note(_ refusal: String, of path: String) {
        guard refusals.count < 100, !refusals.contains(where: { $0.path == path }) else { return }
        refusals.append((path, refusal))
    }

    /// Adds an object.
    /// - Returns: the object that it replaces; nil if none.
    fileprivate mutating func set(_ object: ExportedObject) -> ExportedObject? {
        let replaced = remove(object.path, of: object.type)
        lastNumber += 1
        entries[object.path] = Entry(object: object, number: lastNumber)
        let longestMethod = object.signatures.map(\.name.utf8.count).max() ?? 0
        longestName = max(longestName, object.path.utf8.count + 1 + longestMethod)
        services[object.service, default: (object, 0)].count += 1
        return replaced
    }

    /// Takes out the object of that path, if it is of this type.
    fileprivate mutating func remove(_ path: String, of type: Any.Type) -> ExportedObject? {
        discovery = nil
        guard let object = entries[path]?.object, object.type == type else { return nil }
        entries[path] = nil
        services[object.service]?.count -= 1
        if services[object.service]?.count == 0 { services[object.service] = nil }
        return object
    }

    /// In the order of export.
    fileprivate var listed: [ExportedObject] {
        entries.values.sorted { $0.number < $1.number }.map(\.object)
    }
}
