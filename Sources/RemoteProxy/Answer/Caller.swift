// The caller of a running call, as its subject sees it.

import RPCSockets
package import RPCWire

/// The other end of the session over which the running call came. All calls of a session have the same caller, whichever
/// connection serves the session.
public struct Caller: Sendable, Hashable, CustomReflectable {
    /// Tells callers apart, also after they have gone. Prints as the log names the session (``LogRecord/session``). It says
    /// nothing with which the session could be taken over.
    public struct ID: Sendable, Hashable, CustomStringConvertible {
        private let beginning: String

        /// A part of the key is kept: it is the same for all calls of the session, and the rest cannot be guessed.
        fileprivate init(_ key: String) { beginning = String(key.prefix(15)) }

        /// Eight characters.
        public var description: String { String(beginning.prefix(8)) }
    }

    /// The state of a caller's connection.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum State: Sendable, Hashable {
        /// Calls go out at once.
        /// - Parameter resumed: whether the session went on over this connection after it had lost another.
        case connected(resumed: Bool)
        /// The connection was lost at that moment. The session goes on if the caller comes back within `Limits.sessionGrace`,
        /// or the time that it has asked for.
        case lost(since: ContinuousClock.Instant)
        /// The session is over. The last state.
        case gone
    }

    private let link: Link
    private let carried: CallMetadata?
    package var requester: Requester { link.requester }

    package init(_ link: Link, metadata: CallMetadata? = nil) { (self.link, carried) = (link, metadata) }

    /// Whether this caller is the other end of that link, and has sent that metadata.
    func isAt(_ link: Link, with metadata: CallMetadata?) -> Bool { self.link === link && carried === metadata }

    /// Where the caller calls from: `tcp://127.0.0.1:51234`, or `unix:///run/app.sock`. After a reconnection, the new address.
    public var address: String { link.address }
    /// The same for all calls of the session. Two callers never have the same.
    public var id: ID { ID(link.id) }
    /// The identity that the caller has proved, by a token or by the user id of its process. Nil when it has proved none.
    public var identity: Identity? { link.identity }

    /// What came with this call, such as a `traceparent`: see ``withCallMetadata(_:_:)``. Written by the caller, so not proved by
    /// anything. At most 16 keys, and 4 KiB of keys and values together. Empty when nothing came.
    public var metadata: [String: String] { carried?.values.mapValues(\.text) ?? [:] }

    /// Whether both are the other end of the same session.
    public static func == (one: Self, other: Self) -> Bool { one.link === other.link }

    /// Shows where the caller calls from. Its session belongs to other threads.
    public var customMirror: Mirror { Mirror(self, children: ["id": "\(id)", "address": address]) }

    /// Hashes the session.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(link)) }

    /// The caller of the call that this task serves; nil outside a call.
    public static var current: Caller? { CallScope.current?.caller }

    /// The proxy of that type that stands for an object of a caller without a connection.
    fileprivate func standIn<Proxy: ServiceProxy>(_ type: Proxy.Type) -> Proxy? {
        link.settings.standIns.lazy.compactMap { $0 as? Proxy }.first
    }

    /// Calls the action once, when this caller's session is over. It is over when the caller has left, or has not come back in
    /// time after its connection was lost. If it is over already, the action is called before this returns.
    ///
    /// ```swift
    /// func subscribe() async throws {
    ///     guard let caller = Caller.current else { return }
    ///     caller.whenGone { [seats] in seats.free(caller.id) }
    /// }
    /// ```
    ///
    /// Callable from any thread. The action is called on no particular thread and must not block. It is kept until then, so
    /// ask once for each caller, not with each call. A proxy for the caller leaves a multicast proxy by itself, and an export
    /// that is made with `endingWith:` is taken back.
    /// - Returns: takes the action back. If the session ends at that very moment, the action may still be called.
    @discardableResult
    public func whenGone(_ action: @escaping @Sendable () -> Void) -> Registration { link.watch.whenGone(action) }
}

extension Caller {
    /// The present state and every change of it, until the session is over. Each access is a new sequence.
    ///
    /// ```swift
    /// for await state in caller.states { board.show(name, state) }
    /// ```
    ///
    /// A caller that is killed is `.lost` as soon as the system says so, and one that falls silent when it does not answer a
    /// ping. It is `.gone` when it has not come back in time, or at once when it has left in good order. A reader that falls 64
    /// changes behind misses the oldest ones.
    public var states: some AsyncSequence<State, Never> & Sendable { link.states }
}

/// Runs the body as if a caller with this identity had called, so that an object or a policy can be tested without a connection.
///
/// ```swift
/// try await withCaller(Identity(name: "ann", roles: ["teller"])) { try await ledger.withdraw(5) }
/// ```
///
/// In the body ``Caller/current`` is this caller, with a session of its own and with the metadata of the task around. Calls
/// inside keep what goes on of that metadata and the deadline of the task, and lose its holds. When the body returns or throws,
/// the caller is gone, and the actions of ``Caller/whenGone(_:)`` are called before this returns. Calls to the caller reach the proxies that
/// are given here, in place. All other calls to it throw `RPCError` with the code `.unavailable` at once.
/// - Parameters:
///   - identity: what the caller has proved; nil for a caller that has proved nothing.
///   - address: where the caller calls from.
///   - proxies: what the caller exports, such as `ViewProxy(fake)`. Each is what `ViewProxy(caller)` makes.
public func withCaller<Result>(
    _ identity: Identity?, at address: String = "tcp://127.0.0.1:0", exports proxies: any ServiceProxy...,
    body: () async throws -> Result
) async rethrows -> Result {
    var settings = LinkSettings()
    settings.standIns = proxies
    let context = LinkContext(
        runner: RequestRunner(loop: EventLoop.shared), exports: Exports(isAtClient: true), settings: Shared(settings),
        log: LogRecord.standardError)
    let link = Link(context)
    link.identity = identity
    link.setAddress(address)
    link.requester.close(
        RPCError(
            .unavailable, "a caller of withCaller has no connection and exports only what it is given",
            outcome: .notExecuted))
    func end() async {
        // On its loop, where `states` reads what this changes.
        await withCheckedContinuation { ended in
            link.loop.submit {
                link.end("the body of withCaller is over")
                ended.resume()
            }
        }
    }
    let (deadline, metadata) = (CallScope.current?.deadline, CallScope.current?.metadata)
    let caller = Caller(link, metadata: metadata)
    let scope = CallScope(deadline: deadline, caller: caller, metadata: metadata?.passedOn)
    do {
        let result = try await scope.entered(body)
        await end()
        return result
    } catch {
        await end()
        throw error
    }
}

extension ServiceProxy {
    /// A proxy for an object that the caller has exported at its own end.
    /// - Parameter name: which object, if the caller exported several of this service.
    public init(_ caller: Caller, named name: String? = nil) {
        if name == nil, let standIn = caller.standIn(Self.self) {
            self = standIn
            return
        }
        self.init(
            subject: RemoteSubject(
                requester: caller.requester, service: Self._methodTable.service.name, object: name, owner: nil))
    }
}
