// Makes a connected channel from an endpoint. Looks the name up, and tries its addresses as RFC 8305 says ("Happy Eyeballs"):
// IPv6 and IPv4 in turn, the next one when an attempt fails or has taken a quarter of a second. The result is the first
// connection, or the reasons why no address could be reached.

import CSystem
import RPCWire

/// One attempt to connect to an endpoint. It can be cancelled.
package final class Connector: Sendable {
    package typealias Completion = @Sendable (Result<SocketChannel, SetupError>) -> Void

    private let endpoint: SocketEndpoint
    private let loop: EventLoop
    private let resolver: Resolver
    private let limits: OutputLimits
    private let deadline: Instant
    private let timeout: Duration
    /// How long an attempt is alone before the next one begins beside it.
    private static let headStart = Duration.milliseconds(250)
    /// How many addresses of a name are tried. Each attempt has a descriptor while it lasts.
    private static let mostAddresses = 32

    private let bound: LoopBound<State>

    private struct State {
        /// Nil once it has been called.
        var completion: Completion?
        /// The addresses that have not been tried. Nil while the name is looked up.
        var addresses: ArraySlice<SocketAddress>?
        var failures: [String] = []
        /// The attempts under way, each with its registration.
        var attempts: [(attempt: Attempt, registration: Registration)] = []
        /// Begins the next attempt.
        var next: (any LoopTimer)?
        var timer: (any LoopTimer)?
        /// Whether an address of IPv4 that is written in numbers was out of reach.
        var isLiteralUnreachable = false
        /// Whether the system was asked for other addresses because of that.
        var hasAskedAgain = false
    }

    private var state: State {
        _read { yield bound.value }
        _modify { yield &bound.value }
    }

    /// A socket that is connecting.
    private final class Attempt: Selectable {
        private let connector: Connector
        let socket: Socket
        let address: SocketAddress

        init(of connector: Connector, _ socket: Socket, _ address: SocketAddress) {
            (self.connector, self.socket, self.address) = (connector, socket, address)
        }

        func ready(_: Readiness) { connector.decided(self) }
        func loopWillEnd() { connector.fail("connecting was cancelled") }
    }

    /// Begins to connect. Calls `completion` exactly once, on the loop, and never before returning.
    @discardableResult
    package static func connect(
        to endpoint: SocketEndpoint, on loop: EventLoop, timeout: Duration, limits: OutputLimits = OutputLimits(),
        resolver: Resolver = .shared, completion: @escaping Completion
    ) -> Connector {
        let connector = Connector(endpoint, loop, timeout, limits, resolver, completion)
        // Set here, so that it is due before the timers of the caller.
        let timer = loop.schedule(at: connector.deadline) { connector.timedOut() }
        loop.submit { connector.start(timer) }
        return connector
    }

    /// Ends with an error, unless it has ended already.
    package func cancel() {
        loop.submit { [self] in fail("connecting was cancelled") }
    }

    private init(
        _ endpoint: SocketEndpoint, _ loop: EventLoop, _ timeout: Duration, _ limits: OutputLimits,
        _ resolver: Resolver, _ completion: @escaping Completion
    ) {
        self.endpoint = endpoint
        self.loop = loop
        self.resolver = resolver
        self.limits = limits
        self.timeout = timeout
        bound = LoopBound(State(completion: completion), of: loop)
        deadline = loop.now.advanced(by: timeout)
    }

    private func timedOut() {
        let what = state.addresses == nil ? "the name could not be looked up" : "no connection"
        fail("\(endpoint): \(what) within \(timeout)")
    }

    private func start(_ timer: any LoopTimer) {
        guard state.completion != nil else { return }
        state.timer = timer
        resolver.resolve(endpoint, on: loop) { [self] result in
            guard state.completion != nil else { return }
            switch result {
            case .success(let found):
                state.addresses = SocketAddress.familiesInTurn(found).prefix(Connector.mostAddresses)
                tryNext()
            case .failure(let error): complete(.failure(error))
            }
        }
    }

    /// Begins the next attempt. If no address is left, the attempts under way decide.
    private func tryNext() {
        state.next.take()?.cancel()
        guard let address = state.addresses?.popFirst() else {
            if state.attempts.isEmpty { noneIsLeft() }
            return
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
        let attempt = Attempt(of: self, socket, address)
        state.attempts.append((attempt, try loop.register(attempt, socket.descriptor, .writing)))
        guard let others = state.addresses?.count, others > 0 else { return }
        // Less than the head start if the time would not suffice for all addresses.
        let now = loop.now
        let share = now.nanoseconds(to: deadline) / Int64(others + 1)
        let end = now.advanced(byNanoseconds: min(share, Connector.headStart.nanoseconds))
        state.next = loop.schedule(at: end) { [weak self] in self?.tryNext() }
    }

    /// A Unix-domain listener refuses while its queue is full, so the same address is tried again soon.
    private func again(_ address: SocketAddress) {
        state.addresses = [address] + (state.addresses ?? [])
        loop.schedule(at: loop.now.advanced(by: .milliseconds(5))) { [self] in
            if state.completion != nil { tryNext() }
        }
    }

    /// All addresses have failed. An address of IPv4 that is written in numbers is out of reach where there is only IPv6. There
    /// the system may know an address of IPv6 that leads to the same host (NAT64).
    private func noneIsLeft() {
        guard state.isLiteralUnreachable, !state.hasAskedAgain else { return failWithReasons() }
        state.hasAskedAgain = true
        resolver.resolve(endpoint, on: loop, literally: false) { [self] result in
            guard state.completion != nil else { return }
            let literal = Resolver.literal(endpoint)?.endpoint
            let others = (try? result.get())?.filter { $0.endpoint != literal } ?? []
            state.addresses = SocketAddress.familiesInTurn(others).prefix(Connector.mostAddresses)
            tryNext()
        }
    }

    private func failWithReasons() { fail("\(endpoint): \(state.failures.joined(separator: "; "))") }

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
        let isUnreachable = error.code == ENETUNREACH || error.code == EHOSTUNREACH
        if isUnreachable, Resolver.literal(endpoint)?.family == AF_INET { state.isLiteralUnreachable = true }
        tryNext()
    }

    /// An attempt under way has succeeded or failed.
    private func decided(_ attempt: Attempt) {
        guard let index = state.attempts.firstIndex(where: { $0.attempt === attempt }) else { return }
        loop.deregister(state.attempts.remove(at: index).registration)
        if let error = attempt.socket.pendingError { return failed(attempt.address, error) }
        connected(attempt.socket)
    }

    private func fail(_ why: String) { complete(.failure(SetupError(why))) }

    private func complete(_ result: Result<SocketChannel, SetupError>) {
        guard let completion = state.completion.take() else { return }
        for (attempt, registration) in state.attempts {
            loop.deregister(registration)
            attempt.socket.close()
        }
        state.attempts = []
        state.next.take()?.cancel()
        state.timer.take()?.cancel()
        completion(result)
    }
}

extension SocketAddress {
    /// The same addresses, with the families in turn. The first one stays the first.
    static func familiesInTurn(_ addresses: [SocketAddress]) -> ArraySlice<SocketAddress> {
        let preferred = addresses.filter { $0.family == addresses.first?.family }
        let others = addresses.filter { $0.family != addresses.first?.family }
        let pairs = zip(preferred, others).flatMap { [$0, $1] }
        return (pairs + preferred.dropFirst(others.count) + others.dropFirst(preferred.count))[...]
    }
}
