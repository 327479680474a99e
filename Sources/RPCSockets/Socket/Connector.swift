// Makes a connected channel from an endpoint. Looks the name up, and tries its addresses one after the other, each with its
// share of the time. The result is the first connection, or the reasons why no address could be reached.

import CSystem
import RPCWire

/// One attempt to connect to an endpoint. It can be cancelled.
package final class Connector: Sendable {
    package typealias Completion = @Sendable (Result<SocketChannel, SetupError>) -> Void

    private let endpoint: SocketEndpoint
    private let loop: EventLoop
    private let limits: OutputLimits
    private let deadline: Instant
    private let timeout: Duration

    private let bound: LoopBound<State>

    private struct State {
        /// Nil once it has been called.
        var completion: Completion?
        /// Nil while the name is looked up.
        var addresses: ArraySlice<SocketAddress>?
        var failures: [String] = []
        var attempt: Attempt?
        var timer: (any LoopTimer)?
    }

    private var state: State {
        _read { yield bound.value }
        _modify { yield &bound.value }
    }

    /// The socket that is connecting now.
    private struct Attempt {
        let socket: Socket
        let address: SocketAddress
        let registration: Registration
    }

    /// Begins to connect. Calls `completion` exactly once, on the loop, and never before returning.
    @discardableResult
    package static func connect(
        to endpoint: SocketEndpoint, on loop: EventLoop, timeout: Duration, limits: OutputLimits = OutputLimits(),
        resolver: Resolver = .shared, completion: @escaping Completion
    ) -> Connector {
        let connector = Connector(endpoint, loop, timeout, limits, completion)
        // Set here, so that it is due before the timers of the caller.
        let timer = loop.schedule(at: connector.deadline) { connector.timedOut() }
        loop.submit { connector.start(timer, resolver) }
        return connector
    }

    /// Ends the attempt with an error, unless it has ended already.
    package func cancel() {
        loop.submit { [self] in fail("connecting was cancelled") }
    }

    private init(
        _ endpoint: SocketEndpoint, _ loop: EventLoop, _ timeout: Duration, _ limits: OutputLimits,
        _ completion: @escaping Completion
    ) {
        self.endpoint = endpoint
        self.loop = loop
        self.limits = limits
        self.timeout = timeout
        bound = LoopBound(State(completion: completion), of: loop)
        deadline = loop.now.advanced(by: timeout)
    }

    private func timedOut() {
        let what = state.addresses == nil ? "the name could not be looked up" : "no connection"
        fail("\(endpoint): \(what) within \(timeout)")
    }

    private func start(_ timer: any LoopTimer, _ resolver: Resolver) {
        guard state.completion != nil else { return }
        state.timer = timer
        resolver.resolve(endpoint, on: loop) { [self] result in
            guard state.completion != nil else { return }
            switch result {
            case .success(let found):
                state.addresses = found[...]
                tryNext()
            case .failure(let error): complete(.failure(error))
            }
        }
    }

    private func tryNext() {
        guard let address = state.addresses?.popFirst() else {
            return fail("\(endpoint): \(state.failures.joined(separator: "; "))")
        }
        do throws(SystemError) {
            let socket = try Socket.make(for: address)
            switch try Connector.begin(socket, address) {
            case .connected: connected(socket)
            case .underWay: try wait(socket, address)
            case .queueFull: again(address)
            }
        } catch {
            failed(address, error)
        }
    }

    private enum Beginning { case connected, underWay, queueFull }

    private static func begin(_ socket: Socket, _ address: SocketAddress) throws(SystemError) -> Beginning {
        if address.withPointer({ CSystem.connect(socket.descriptor, $0, $1) }) == 0 { return .connected }
        switch system_errno() {
        // An attempt to connect continues when a signal interrupts the call.
        case EINPROGRESS, EINTR: return .underWay
        case EAGAIN where address.family == AF_UNIX: return .queueFull
        case let code: throw SystemError("connect", code: code)
        }
    }

    private func wait(_ socket: Socket, _ address: SocketAddress) throws(SystemError) {
        let registration = try loop.register(self, socket.descriptor, .writing)
        state.attempt = Attempt(socket: socket, address: address, registration: registration)
        guard let others = state.addresses?.count, others > 0, timeout < .seconds(3_600) else { return }
        // An address that never answers must leave time for the next ones.
        let now = loop.now
        let share = now.duration(to: deadline) / (others + 1)
        let tag = registration.tag
        loop.schedule(at: now.advanced(by: share)) { [weak self] in
            guard let self, state.attempt?.registration.tag == tag else { return }
            endAttempt()
            failed(address, SystemError("connect", code: ETIMEDOUT))
        }
    }

    /// A Unix-domain listener refuses while its queue is full, so the same address is tried again soon.
    private func again(_ address: SocketAddress) {
        state.addresses = [address] + (state.addresses ?? [])
        loop.schedule(at: loop.now.advanced(by: .milliseconds(5))) { [self] in
            if state.completion != nil { tryNext() }
        }
    }

    private func connected(_ socket: Socket) {
        if Connector.isConnectedToItself(socket) { return failed(nil, SystemError("connect", code: ECONNREFUSED)) }
        complete(.success(SocketChannel(socket, on: loop, remoteAddress: "\(endpoint)", limits: limits)))
    }

    /// Whether the socket has connected to itself. If a port has no listener, the system can pick that port for this end. Such
    /// a connection would keep the server from getting its port back.
    static func isConnectedToItself(_ socket: Socket) -> Bool {
        guard let local = socket.localAddress?.endpoint, case .tcp = local else { return false }
        return local == socket.remoteAddress?.endpoint
    }

    private func failed(_ address: SocketAddress?, _ error: SystemError) {
        let place = address.map { "\($0)" } ?? "\(endpoint)"
        state.failures.append(place == "\(endpoint)" ? "\(error)" : "\(place): \(error)")
        tryNext()
    }

    private func endAttempt() {
        if let attempt = state.attempt.take() { loop.deregister(attempt.registration) }
    }

    private func fail(_ why: String) { complete(.failure(SetupError(why))) }

    private func complete(_ result: Result<SocketChannel, SetupError>) {
        guard let completion = state.completion.take() else { return }
        endAttempt()
        state.timer.take()?.cancel()
        completion(result)
    }
}

extension Connector: Selectable {
    func ready(_: Readiness) {
        guard let attempt = state.attempt else { return }
        endAttempt()
        if let error = attempt.socket.pendingError { return failed(attempt.address, error) }
        connected(attempt.socket)
    }

    func loopWillEnd() { fail("connecting was cancelled") }
}
