// A listening socket on a loop. Hands over each connection that comes. While no descriptors are left it waits, and then accepts
// again.

import CSystem
import RPCWire
import Synchronization

/// Accepts connections until it is closed.
package final class Listener: Sendable {
    /// Called with a line when nothing can be accepted for now, and when connections are accepted again.
    package typealias Report = @Sendable (_ line: String) -> Void
    /// Called for each connection, on the listener's loop. May put it on another loop: `SocketChannel(socket, on: …)`.
    package typealias Accept = @Sendable (_ socket: Socket, _ peer: SocketAddress) -> Void

    /// How many connections are accepted in one turn of the loop.
    private static let acceptsPerTurn = 64
    /// How many descriptors must be free when the listener begins, besides its own. One is for a connection, and two are for
    /// the loop that watches others. Six are for Swift's thread pool, which ends the process if it cannot open them: a queue,
    /// its wake-up, a timer for each clock, and a file in which it looks at its own threads.
    private static let leastRoom = 9
    /// How long nothing is accepted if the system has no room.
    private static let pause = Duration.milliseconds(100)

    /// Where it listens, with the port that the system chose.
    package let endpoint: SocketEndpoint
    private let loop: EventLoop
    private let socket: Socket
    private let file: UnixSocketFile?
    private let accept: Accept
    private let report: Report

    private let bound: LoopBound<State>

    private struct State {
        var registration: Registration?
        /// Ends the pause in which nothing is accepted.
        var timer: (any LoopTimer)?
        /// A spare descriptor. It is closed for a moment to accept a connection and refuse it in an orderly way.
        var spare = Listener.takeSpare()
        /// Whether the last attempt failed because descriptors or memory were used up, and that was reported.
        var isShort = false
    }

    private var state: State {
        _read { yield bound.value }
        _modify { yield &bound.value }
    }

    /// Begins to listen. A name is looked up on another thread, and its first address is taken.
    /// - Parameter inherited: takes the place of a new socket. Its file stays when the listener is closed.
    package static func listen(
        on endpoint: SocketEndpoint, _ inherited: InheritedSocket? = nil, loop: EventLoop, backlog: Int = 1_024,
        report: @escaping Report = { _ in }, accept: @escaping Accept
    ) async throws(SetupError) -> Listener {
        let listener: Listener
        if let inherited {
            listener = try Listener(endpoint, inherited.socket, nil, loop, backlog, report, accept)
        } else {
            let found = await withCheckedContinuation { continuation in
                Resolver.shared.resolve(endpoint, on: loop) { continuation.resume(returning: $0) }
            }
            guard let address = try found.get().first else { throw SetupError("\(endpoint) has no address") }
            let (socket, file) = try Socket.bound(to: address, endpoint)
            listener = try Listener(endpoint, socket, file, loop, backlog, report, accept)
        }
        await withCheckedContinuation { continuation in
            loop.submit {
                listener.begin()
                continuation.resume()
            }
        }
        return listener
    }

    private init(
        _ endpoint: SocketEndpoint, _ socket: Socket, _ file: UnixSocketFile?, _ loop: EventLoop, _ backlog: Int,
        _ report: @escaping Report,
        _ accept: @escaping Accept
    ) throws(SetupError) {
        (self.socket, self.file, self.loop) = (socket, file, loop)
        self.accept = accept
        self.report = report
        do throws(SystemError) {
            try SystemCall.make("listen") { CSystem.listen(socket.descriptor, Int32(clamping: backlog)) }
        } catch {
            throw SetupError("cannot listen on \(endpoint): \(error)")
        }
        self.endpoint = Listener.bound(endpoint, socket)
        let state = State()
        bound = LoopBound(state, of: loop)
        guard state.spare != nil, Listener.hasRoom else {
            file?.remove()
            throw SetupError(
                "cannot listen on \(endpoint): too few file descriptors are left to serve a client; \(Listener.leastRoom) "
                    + "have to be free once it listens, so raise the limit (ulimit -n)")
        }
    }

    private static var hasRoom: Bool {
        // All of them are open at the same time.
        let opened = (0..<leastRoom).map { _ in takeSpare() }
        return !opened.contains { $0 == nil }
    }

    /// Opens a descriptor that only serves to be closed when another one is needed.
    private static func takeSpare() -> FileDescriptor? { try? FileDescriptor("/dev/null", O_RDONLY) }

    /// The endpoint as it was given, with the real port.
    private static func bound(_ endpoint: SocketEndpoint, _ socket: Socket) -> SocketEndpoint {
        guard case .tcp(let host, _) = endpoint, case .tcp(_, let port)? = socket.localAddress?.endpoint else {
            return endpoint
        }
        return .tcp(host: host, port: port)
    }

    /// Stops listening. Connections that were handed over stay open. If called on the loop, no connection is handed over
    /// afterwards; if called elsewhere, the listener stops soon.
    package func close() {
        if loop.isCurrent { end() } else { loop.submit { [self] in end() } }
    }

    // MARK: on the loop

    private func begin() {
        state.timer.take()?.cancel()
        do throws(SystemError) {
            state.registration = try loop.register(self, socket.descriptor, .reading)
        } catch {
            waitForRoom(error)
        }
    }

    private func end() {
        guard socket.descriptor >= 0 else { return }
        state.timer.take()?.cancel()
        if let registration = state.registration.take() { loop.deregister(registration) }
        file?.remove()
        socket.close()
    }

    /// Stops accepting for a pause. Reports each shortage once, however long it lasts.
    private func waitForRoom(_ error: SystemError) {
        if !state.isShort {
            state.isShort = true
            report(
                "\(endpoint) accepts no connections for now: \(error); open connections are served on. Close some, or let the "
                    + "process have more (ulimit -n)")
        }
        if let registration = state.registration.take() { loop.deregister(registration) }
        state.timer = loop.schedule(at: loop.now.advanced(by: Listener.pause)) { [weak self] in
            if let self, socket.descriptor >= 0 { begin() }
        }
    }

    private enum Accepted { case connection(Socket, SocketAddress), nothing, failed(Int32) }

    private func acceptOne() -> Accepted {
        var descriptor: Int32 = -1
        let peer = SocketAddress { address, length in
            descriptor = system_accept(socket.descriptor, address, length)
            return descriptor
        }
        if descriptor >= 0, let peer { return .connection(Socket(descriptor: descriptor), peer) }
        let code = system_errno()
        return code == EAGAIN || code == EWOULDBLOCK ? .nothing : .failed(code)
    }

    /// Refuses connections while the table of descriptors is full. Closing the spare descriptor makes room to accept a waiting
    /// connection and close it, so that its peer knows at once. Ends when none waits: accept reports a full table even then.
    /// A connection beside which the spare can be opened again is handed over, and the pause is over.
    private func refuseWaiting() {
        state.spare = nil
        for _ in 0..<Listener.acceptsPerTurn {
            // The socket is closed when it is released.
            guard case .connection(let socket, let peer) = acceptOne() else { break }
            state.spare = Listener.takeSpare()
            if state.spare != nil {
                begin()
                return handOver(socket, peer)
            }
        }
        state.spare = Listener.takeSpare()
    }

    private func handOver(_ socket: Socket, _ peer: SocketAddress) {
        if state.isShort, state.registration != nil {
            state.isShort = false
            report("\(endpoint) accepts again")
        }
        accept(socket, peer)
    }
}

extension Listener: Selectable {
    func ready(_: Readiness) {
        for _ in 0..<Listener.acceptsPerTurn {
            guard state.registration != nil else { return }
            switch acceptOne() {
            case .connection(let socket, let peer): handOver(socket, peer)
            case .nothing: return
            case .failed(let code) where code == EMFILE || code == ENFILE:
                waitForRoom(SystemError("accept", code: code))
                return refuseWaiting()
            case .failed(EINTR), .failed(ECONNABORTED), .failed(EPROTO), .failed(EPERM), .failed(ENETDOWN),
                .failed(ENETUNREACH), .failed(EHOSTDOWN), .failed(EHOSTUNREACH), .failed(ENOPROTOOPT),
                .failed(EOPNOTSUPP), .failed(ETIMEDOUT):
                // The fault concerns only this one connection.
                continue
            case .failed(let code): return waitForRoom(SystemError("accept", code: code))
            }
        }
    }

    func loopWillEnd() { end() }
}

extension Socket {
    fileprivate static func bound(
        to address: SocketAddress, _ endpoint: SocketEndpoint
    ) throws(SetupError) -> (Socket, UnixSocketFile?) {
        do throws(SystemError) {
            let socket = try Socket.make(for: address)
            if case .unix(let path) = endpoint { return (socket, try UnixSocketFile.bind(socket, address, path)) }
            try socket.bindTCP(address)
            return (socket, nil)
        } catch {
            throw SetupError("cannot listen on \(endpoint): \(error)")
        }
    }

    private func bindTCP(_ address: SocketAddress) throws(SystemError) {
        // Lets a restarted server have its port while the system still remembers old connections.
        try SystemCall.make("setsockopt") { system_set_option(descriptor, SOL_SOCKET, SO_REUSEADDR, 1) }
        if address.family == AF_INET6 { _ = system_set_dual_stack(descriptor) }
        try SystemCall.make("bind") { address.withPointer { CSystem.bind(descriptor, $0, $1) } }
    }
}
