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
            /// What ends the export with a caller's session; nil if nothing does.
            var ending: Registration?
        }

        /// By their paths, such as `Greeter` or `Greeter[left]`.
        var entries: [String: Entry] = [:]
        /// What the objects of each service have in common, and their number, by the service's name.
        var services: [String: (type: Any.Type, signatures: [MethodSignature], count: Int)] = [:]
        var lastNumber = 0
        /// The length of the longest wire name of a method so far, in bytes.
        var longestName = 0
        /// The answer to `rpc.discover`; nil until it is asked for after a change.
        var discovery: Bytes?
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
        let object = ExportedObject(proxy, named: name)
        let path = object.path
        let (number, replaced, refusal) = state.withLock { state -> (Int, State.Entry?, String?) in
            if let refusal = state.refusal(of: object) {
                state.note(refusal, of: path)
                return (0, nil, refusal)
            }
            state.refusals.removeAll { $0.path == path }
            let replaced = state.set(object)
            return (state.lastNumber, replaced, nil)
        }
        if let refusal { return Registration(refusal: refusal) }
        table.version.add(1, ordering: .releasing)
        // Outside the lock: the deinit of the replaced object may export something in turn.
        withExtendedLifetime(replaced) { replaced?.ending?.cancel() }
        let registration = Registration { [weak table] in table?.remove(path, number) }
        if let caller { end(path, number, with: caller, by: registration) }
        return registration
    }

    /// Has an export cancelled when the caller's session is over. The session forgets that when the export ends before.
    private func end(_ path: String, _ number: Int, with caller: Caller, by registration: Registration) {
        let ending = caller.whenGone { registration.cancel() }
        let isExported = state.withLock { state in
            guard state.entries[path]?.number == number else { return false }
            state.entries[path]?.ending = ending
            return true
        }
        if !isExported { ending.cancel() }
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
        state.withLock { $0.services[service]?.signatures }
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

extension Exports.Table {
    func remove(_ path: String, _ number: Int) {
        guard let removed = state.withLock({ $0.remove(path, number) }) else { return }
        version.add(1, ordering: .releasing)
        withExtendedLifetime(removed) { removed.ending?.cancel() }
    }
}

extension Exports.State {
    /// Why an object must not be exported: its name is not allowed, or is confused with another. Nil when it may be exported.
    fileprivate func refusal(of object: ExportedObject) -> String? {
        if let first = object.name?.first, "~#@".contains(first) {
            return "\(object.path) is not exported: a name that begins with '\(first)' is reserved; choose another"
        }
        if let other = services[object.service]?.type, other != object.type {
            return
                "\(object.path) is not exported: \(String(reflecting: object.type)) and \(String(reflecting: other)), "
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
    /// - Returns: the entry that it replaces; nil if none.
    fileprivate mutating func set(_ object: ExportedObject) -> Entry? {
        let replaced = entries[object.path].flatMap { remove(object.path, $0.number) }
        discovery = nil
        lastNumber += 1
        entries[object.path] = Entry(object: object, number: lastNumber)
        let longestMethod = object.signatures.map(\.name.utf8.count).max() ?? 0
        longestName = max(longestName, object.path.utf8.count + 1 + longestMethod)
        services[object.service, default: (object.type, object.signatures, 0)].count += 1
        return replaced
    }

    /// Takes out the export of that number, unless it has been taken out or replaced.
    fileprivate mutating func remove(_ path: String, _ number: Int) -> Entry? {
        guard let entry = entries[path], entry.number == number else { return nil }
        discovery = nil
        entries[path] = nil
        services[entry.object.service]?.count -= 1
        if services[entry.object.service]?.count == 0 { services[entry.object.service] = nil }
        return entry
    }

    /// In the order of export.
    fileprivate var listed: [ExportedObject] {
        entries.values.sorted { $0.number < $1.number }.map(\.object)
    }
}
