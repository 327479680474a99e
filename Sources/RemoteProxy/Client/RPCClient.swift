// The public interface of the end that dials. `Reconnector` makes its connections; `Requester` makes its calls.

import RPCSockets
import RPCWire

/// A client of one server. It connects on first use, and again after each loss, for as long as it lives. A server that it starts
/// itself (``Transport/process(_:_:directory:environment:standardError:)``) it starts again when it is needed. Any number of
/// tasks may share it.
///
/// ```swift
/// let client = RPCClient("tcp://127.0.0.1:7070")
/// let greeter: any Greeter = GreeterProxy(client)
/// print(try await greeter.greet("world"))
/// ```
///
/// Calls made while there is no connection wait for one until their deadline, unless
/// ``Configuration/waitsForConnection`` is false. They end when an attempt fails and the next one would fail as well: the
/// server's name does not exist, the server refuses the token, or it speaks another protocol. When a connection breaks and the
/// server lives, its session goes on over the next one: no call or post is lost or run twice. When the server has restarted,
/// calls that had been sent fail with `.connectionLost` and the outcome `.unknown`. Calls marked `@Idempotent` or `@ReadOnly`
/// are sent again instead. So are calls that certainly never left. A client that is released, with all of its proxies, closes as
/// by ``close()``.
public final class RPCClient: Sendable, CustomReflectable {
    private let reconnector: Reconnector
    package let requester: Requester
    private let exports = Exports(isAtClient: true)
    /// How often calls through all proxies of this client may be tried again.
    let retryBudget = RetryBudget()

    /// - Parameters:
    ///   - endpoint: where the server listens. A literal that is no address makes every call throw `RPCError` with the code
    ///     `.invalidAddress`.
    public convenience init(_ endpoint: Endpoint, _ configuration: Configuration = Configuration()) {
        self.init(.to(endpoint, configuration), configuration)
    }

    /// A client whose configuration is all defaults but for what the closure sets.
    ///
    /// ```swift
    /// let client = RPCClient("tcp://127.0.0.1:7070") { $0.token = token }
    /// ```
    public convenience init(_ endpoint: Endpoint, _ configure: (inout Configuration) throws -> Void) rethrows {
        var configuration = Configuration()
        try configure(&configuration)
        self.init(endpoint, configuration)
    }

    /// A client whose server has no address. In all else it is like a client of an endpoint.
    /// - Parameters:
    ///   - transport: how the server is reached.
    public convenience init(_ transport: Transport, _ configuration: Configuration = Configuration()) {
        self.init(transport.dialer(configuration), configuration)
    }

    /// A client whose server has no address. Its configuration is all defaults but for what the closure sets.
    public convenience init(_ transport: Transport, _ configure: (inout Configuration) throws -> Void) rethrows {
        var configuration = Configuration()
        try configure(&configuration)
        self.init(transport, configuration)
    }

    package init(
        _ dialer: Dialer, _ configuration: Configuration = Configuration(),
        chance: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        reconnector = Reconnector(dialer, configuration, exports: exports, chance: chance)
        requester = reconnector.requester
        if let fault = dialer.fault { reconnector.close(because: fault) }
        requester.owner = self
    }

    deinit { close() }

    /// Shows nothing but the type: what is in it belongs to other threads.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Makes an object at this end callable by the server's subjects, through `Caller.current`. Exporting again under the
    /// same name replaces the former object.
    ///
    /// A proxy is refused if another exported protocol has the same name on the wire, which `@Service(name:)` can change. It
    /// is also refused under a name that begins with `~`, `#` or `@`, if two of its methods have one name on the wire and are
    /// declared differently, and if the name of a method has a dot or a bracket. Earlier exports stay as they are. The log and
    /// ``Registration/refusal`` say why.
    /// - Parameter caller: the export is taken back when this caller's session is over.
    /// - Returns: takes the object back. Then later calls throw `RPCError` with the code `.noSuchObject`, and discovery does
    ///   not list it. Calls that were accepted before run on. The connection may keep the object alive until its next request.
    @discardableResult
    public func export(
        _ proxy: some ServiceProxy, named name: String? = nil, endingWith caller: Caller? = nil
    ) -> Registration {
        let registration = exports.add(proxy, named: name, endingWith: caller)
        if let refusal = registration.refusal { requester.log(LogRecord(.error, refusal)) }
        return registration
    }

    /// Not available: what is exported is a proxy.
    @available(*, unavailable, message: "write export(GreeterProxy(object)), with the proxy of your service")
    public func export(_ object: some Any, named name: String? = nil) {}

    /// The thread that serves the client's connection. All clients of a process share it, and it stays when the client is
    /// closed. A task on this executor gets its answers without waking another thread. For a task on the ordinary pool that is
    /// so only if it does little between its calls:
    ///
    /// ```swift
    /// let sum = try await Task(executorPreference: client.executor) {
    ///     try await calculator.add(1, 2)
    /// }.value
    /// ```
    ///
    /// A task that blocks or computes for long there holds up all clients for some milliseconds, until another thread takes
    /// over. The wait is longer if a task keeps that thread busy too.
    public var executor: any TaskExecutor { requester.loop }

    /// Connects now, and returns when the client is connected and the server has answered the greeting. Returns at once if
    /// the client is connected and has heard of the server a short time ago.
    ///
    /// ```swift
    /// let client = RPCClient("tcp://127.0.0.1:7070")
    /// try await client.connect()
    /// ```
    ///
    /// No call needs it, since a client connects on first use. It tells early, for instance at the start of a program, whether
    /// the server can be reached. It fails with the first attempt that fails, after ``Configuration/connectTimeout`` at the
    /// latest. Then the client goes on as after a call: it connects again by itself, with pauses; a server that it starts itself is
    /// left to the next call. Without a greeting (``Configuration/peer``) it returns as soon as the server takes the connection.
    ///
    /// A connection that has been silent for `Keepalive.interval` is probed first, with a ping. That may be so when a laptop or
    /// an app was suspended. If the answer does not come within half of `Keepalive.timeout`, the connection counts as lost, and
    /// the client makes a new one. With an interval of zero, the silence may last as long as the time-out. A server that is not
    /// made with this library cannot be probed: there an open connection is enough.
    /// - Throws: `RPCError` with the reason and the outcome `.notExecuted`. Its code is `.unavailable`, also while the client is
    ///   paused, `.unauthenticated` if the server refuses the token, `.invalidAddress` if the endpoint is no address, or
    ///   `.closed` if the client is closed before. `CancellationError` as soon as the calling task is cancelled.
    public func connect() async throws {
        defer { extendLifetime(self) }
        do { try await reconnector.connect() } catch { throw error.thrownByProxy }
    }

    /// Ends the connection and makes no other until ``resume()``. The session is kept. For an app that goes to the background.
    ///
    /// ```swift
    /// client.pause()  // the app leaves the screen
    /// client.resume()  // it is back
    /// ```
    ///
    /// Returns at once. What is queued still leaves, then the connection is closed in good order. From then on the client sends
    /// no pings, and the server sees a client that has lost its connection. It keeps the session as long as
    /// ``Configuration/sessionGrace`` asks for. If the client resumes within that time, no call or post is lost or run twice.
    ///
    /// Meanwhile calls and posts do what they do without a connection: they wait until their deadline. A call that was sent
    /// before gets its answer after the pause. With ``Configuration/waitsForConnection`` set to false, a call that was not sent
    /// fails at once. ``connect()`` throws. A server that is not made with this library keeps no session, so calls that were
    /// sent to it end as when the connection is lost.
    ///
    /// A connection whose server is stopping is left alone: it ends when its calls are answered. A client that is closed while it
    /// is paused, with no posts pending, tells the server nothing. The server keeps the session for its time then.
    ///
    /// Does nothing if the client is paused or closed.
    public func pause() { reconnector.pause() }

    /// Ends the pause and connects at once. Returns without waiting; ``connect()`` afterwards waits for the connection.
    ///
    /// If the client is not paused, it does what ``connect()`` does: it makes a connection, or probes one that has been silent.
    /// So an app may call it whenever it comes to the foreground.
    public func resume() { reconnector.resume() }

    /// The present state and every change of it, until the client is closed. Each access is a new sequence.
    ///
    /// A server forgets a client when the session ends, and so what the client has subscribed to. Subscribe whenever a session
    /// begins:
    ///
    /// ```swift
    /// for await case .connected(resumed: false) in client.states { try? await news.subscribe() }
    /// ```
    ///
    /// A reader that falls 64 changes behind misses the oldest ones.
    public var states: some AsyncSequence<State, Never> & Sendable { reconnector.states.subscribe() }

    /// How many objects the two ends of the session have of each other by reference. None without a session.
    public var referenceCounts: ReferenceCounts { requester.link?.referenceCounts ?? .none }

    /// Closes the client without waiting. Every pending call ends at once with the code `.closed`. Later calls throw the same,
    /// and later posts are dropped.
    ///
    /// Pending posts are sent in the background, over a new connection if there is none. The connection ends when the server
    /// has acknowledged them, after ``Configuration/postGrace`` at the latest. Posts that are left then are lost, with one line
    /// in ``Configuration/log``. Until then the server can call the exports of this client. The same happens when the client is
    /// released. If the process ends sooner, its posts are lost. So at the end of a program, `await` ``close(grace:)`` instead.
    public func close() {
        reconnector.close(because: .closed(outcome: .notExecuted))
    }

    /// Closes the client as ``close()`` does, and returns when its pending posts are delivered and its connection has ended,
    /// or when the grace time is over.
    ///
    /// ```swift
    /// let lost = await client.close(grace: .seconds(2))
    /// if lost > 0 { print("\(lost) posts may not have arrived") }
    /// ```
    ///
    /// A server made with this library acknowledges posts when it has them; it may still be running them. Another server
    /// acknowledges nothing. There, posts count as delivered when they have been handed to the connection, and are lost
    /// without notice if it breaks. After ``close()`` this function waits for the same posts. Cancelling the calling task
    /// does not shorten the wait.
    /// - Parameter grace: how long the posts have, in place of ``Configuration/postGrace``.
    /// - Returns: how many of the posts that were pending were not delivered, or may not have been; 0 when all arrived. Posts
    ///   that were refused when they were made are not counted; ``Configuration/log`` has them.
    @discardableResult
    public func close(grace: Duration) async -> Int { await reconnector.close(grace: grace) }
}

extension RPCClient {
    /// The state of a client's connection. There may be more states later: switch over it with a `default`.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum State: Sendable {
        /// No connection has been needed yet, or the program at the other end has ended and nothing has needed it since.
        case idle
        /// Dialling, or waiting for the server's greeting.
        case connecting
        /// Calls go out at once.
        /// - Parameter resumed: whether the session of the former connection goes on, so that nothing is lost. If false, the
        ///   server knows nothing of earlier calls of this client.
        case connected(resumed: Bool)
        /// The last attempt failed or the connection was lost, for the reason that ``connect()`` throws. The next attempt is made
        /// at that moment, or before if `connect()` or a call asks for it.
        case waiting(until: ContinuousClock.Instant, because: RPCError)
        /// Without a connection because of ``pause()``, until ``resume()``.
        case paused
        /// Closed by its owner; takes no more calls and posts. The last state, although pending posts may still be sent.
        case closed
    }
}

extension RPCClient.State: Equatable {
    /// Whether both are the same state. Of waiting clients, whether they wait until the same moment.
    public static func == (one: Self, other: Self) -> Bool {
        switch (one, other) {
        case (.idle, .idle), (.connecting, .connecting), (.paused, .paused), (.closed, .closed): true
        case (.connected(let one), .connected(let other)): one == other
        case (.waiting(let one, _), .waiting(let other, _)): one == other
        default: false
        }
    }
}

extension RPCClient.State: CustomStringConvertible {
    /// Such as `connected`, or `waiting for 1.5 seconds: ` with the reason.
    public var description: String {
        switch self {
        case .idle: "idle"
        case .connecting: "connecting"
        case .connected(let resumed): resumed ? "connected, resumed" : "connected"
        case .waiting(let until, let error):
            "waiting for \(max(Duration.zero, ContinuousClock.now.duration(to: until))): \(error.message)"
        case .paused: "paused"
        case .closed: "closed"
        }
    }
}

extension ServiceProxy {
    /// A proxy for an object at the other end of a client's connection. Keeps the client alive.
    /// - Parameter name: which object, if the server exported several of this service.
    public init(_ client: RPCClient, named name: String? = nil) {
        self.init(
            subject: RemoteSubject(
                requester: client.requester, service: Self._methodTable.service.name, object: name, owner: client))
    }
}
