// The end that dials: the public face. What it does is in `Reconnector`, which dials, and `Requester`, which calls.

import RPCSockets
import RPCWire

/// A connection to a server that is made on first use, shared by any number of tasks, and made again for as long as
/// the client lives.
///
/// ```swift
/// let client = RPCClient("tcp://127.0.0.1:7070")
/// let greeter: any Greeter = GreeterProxy(client)
/// print(try await greeter.greet("world"))
/// ```
///
/// Calls made while there is no connection wait for one until their own deadline. When a connection breaks and the server
/// lives, its session goes on over the next one: no call or post is lost or run twice. When the server has restarted,
/// calls that had been sent fail with `.connectionLost` and the outcome `.unknown`, but for those marked `@Idempotent` or
/// `@ReadOnly`, which are sent again; those that provably never left are sent as well. A client that is let go, with all of its
/// proxies, closes as by ``close()``.
public final class RPCClient: Sendable {
    private let reconnector: Reconnector
    package let peer: Requester
    private let exports = Exports()
    /// What calls through all proxies of this client may be tried again.
    let retryBudget = RetryBudget()

    /// - Parameters:
    ///   - url: where the server listens: `tcp://host:port`, `tcp://[::1]:port` or `unix:///path`. A URL that cannot
    ///     be understood makes every call throw `RPCError` with the code `.invalidAddress`.
    public convenience init(_ url: String, _ configuration: Configuration = Configuration()) {
        self.init(.socket(url, configuration.connectTimeout, configuration.streamLimits), configuration)
    }

    package init(
        _ dialer: Dialer, _ configuration: Configuration = Configuration(),
        chance: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        reconnector = Reconnector(dialer, configuration, exports: exports, chance: chance)
        peer = reconnector.peer
        if let fault = dialer.fault { reconnector.close(because: fault) }
    }

    deinit { close() }

    /// Makes an object at this end callable by the server's subjects, through `Caller.current`. Exporting again under the
    /// same name replaces the former.
    ///
    /// Two proxies are refused: one of a protocol whose name on the wire another exported protocol has, which
    /// `@Service(name:)` can change, and one under a name that begins with `~`, `#` or `@`. What was exported before stays
    /// as it is, and the log says why.
    public func export(_ proxy: some ServiceProxy, named name: String? = nil) {
        if let refusal = exports.add(proxy, named: name) { peer.log(refusal) }
    }

    /// Takes back what was exported of a service, under that name or under none. Later calls throw `RPCError` with the code
    /// `.unimplemented`, and discovery does not list the object. Calls that were accepted before run on. The connection may
    /// keep the object alive until its next request.
    /// - Returns: whether there was such an export.
    @discardableResult
    public func unexport(_ proxy: (some ServiceProxy).Type, named name: String? = nil) -> Bool {
        exports.remove(proxy, named: name)
    }

    /// Where the client's connection is served: one thread that all clients of a process share. It stays when the client is
    /// closed. A task there finds its answers without another thread being woken, whatever it does between; tasks on the
    /// ordinary pool do as well, for as long as that is little:
    ///
    /// ```swift
    /// let sum = try await Task(executorPreference: client.executor) {
    ///     try await calculator.add(1, 2)
    /// }.value
    /// ```
    ///
    /// What blocks or computes for long there holds up all of these clients: for some milliseconds, until another thread goes on
    /// in its place, and for longer if that computes for long as well.
    public var executor: any TaskExecutor { peer.loop }

    /// The state now and every change of it, until the client is closed. Each access begins anew.
    public var states: AsyncStream<State> { reconnector.states.subscribe() }

    /// Closes the client without waiting. Every pending call ends at once with the code `.closed`; calls made later throw the
    /// same, and posts made later are dropped.
    ///
    /// Posts that are pending are sent in the background, over a connection that is still to be made if need be, and the
    /// connection ends when the server has acknowledged them, after ``Configuration/postGrace`` at the latest. What is left
    /// then is lost and told to ``Configuration/log`` in one line. Until then the server can call what this client exports.
    /// The same happens when the client is let go. A process that ends sooner takes its posts with it: at the
    /// end of a program, `await` ``finish()`` instead.
    public func close() {
        reconnector.close(because: .closed(outcome: .notExecuted))
    }

    /// Closes the client as ``close()`` does, and returns when its pending posts are delivered and its connection has ended,
    /// or when ``Configuration/postGrace`` is over.
    ///
    /// ```swift
    /// let lost = await client.finish()
    /// if lost > 0 { print("\(lost) posts may not have arrived") }
    /// ```
    ///
    /// A server made with this library acknowledges posts; one that has them may still be running them. From any other it
    /// cannot be known: posts count as delivered when they have been handed to a connection, which takes them to the server if
    /// nothing breaks. After ``close()`` it waits for what that has begun. Cancelling the calling task does not shorten it.
    /// - Returns: how many of the posts that were pending were not delivered, or may not have been; 0 when all arrived.
    @discardableResult
    public func finish() async -> Int { await reconnector.finish() }
}

extension RPCClient {
    /// Where a client stands with its server.
    public enum State: Sendable, Hashable {
        /// No call has been made yet.
        case idle
        /// Dialling, or waiting for the server's greeting.
        case connecting
        /// Calls go out at once.
        case connected
        /// The last attempt failed or the connection was lost; the next attempt is made then.
        case waiting(until: ContinuousClock.Instant)
        /// Closed by its owner; takes no more calls and posts. The last state, although posts may still be on their way.
        case closed
    }
}

extension ServiceProxy {
    /// A proxy for an object at the other end of a client's connection. Keeps the client alive.
    /// - Parameter name: which object, if the server exported several of this service.
    public init(_ client: RPCClient, named name: String? = nil) {
        self.init(
            subject: RemoteSubject(
                peer: client.peer, service: Self.methodTable.service.name, object: name, owner: client))
    }
}
