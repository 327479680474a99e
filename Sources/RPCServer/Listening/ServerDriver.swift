// Accepts connections, refuses those beyond a limit, and distributes the others over the loops.

import RPCSockets
import RPCWire
import RemoteProxy

/// Runs a server: its addresses, its loops and its connections.
final class ServerDriver: Sendable {
    struct State {
        enum Phase { case serving, stopping, stopped }

        var phase = Phase.serving
        var listeners: [Listener] = []
        var channels: [Int: any MessageChannel] = [:]
        var accepted = 0
        var count: ConnectionCount
        var loops: [EventLoop] = []
        /// One for each loop, in the same order.
        var runners: [RequestRunner] = []
        /// Gives a loop another thread when a subject blocks the loop's thread.
        var monitor: HandoffMonitor?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    let configuration: RPCServer.Configuration
    private let exports: Exports
    let traffic: Traffic
    let logLimiter: LogLimiter
    private let linkSettings: Shared<LinkSettings>
    /// The tokens that are accepted now. `reload` replaces those of the configuration.
    private let tokens: Lock<TokenList?>
    let state: Lock<State>
    /// Makes the channel of an accepted connection from that of its socket.
    private let wrap: @Sendable (SocketChannel) -> any ByteChannel
    /// The sessions of all clients, also of those that have lost their connection.
    let sessions: SessionTable

    init(
        _ configuration: RPCServer.Configuration, exports: Exports,
        wrap: @escaping @Sendable (SocketChannel) -> any ByteChannel = { $0 }
    ) {
        self.wrap = wrap
        self.configuration = configuration
        self.exports = exports
        sessions = SessionTable(grace: configuration.limits.sessionGrace, limit: configuration.limits.maximumSessions)
        let traffic = Traffic(
            loops: configuration.threads, maximumRequests: configuration.limits.maximumRequestsInAll,
            maximumBytes: configuration.limits.maximumBytesInAll)
        self.traffic = traffic
        logLimiter = LogLimiter(
            most: configuration.limits.maximumLogLines, on: EventLoop.shared,
            overran: { traffic.overran(.maximumLogLines) }, write: configuration.log)
        var settings = LinkSettings()
        settings.limits = configuration.limits
        settings.tokens = Lock(configuration.tokens)
        settings.traffic = traffic
        (settings.timeout, settings.waitsForConnection) = (configuration.timeout, configuration.waitsForConnection)
        settings.traceMessages(configuration.tracesMessages, into: configuration.log)
        tokens = settings.tokens
        linkSettings = Shared(settings)
        state = Lock(
            State(
                count: ConnectionCount(configuration.limits)))
        traffic.whenFull { [weak self] in self?.relieve() }
    }

    var connectionCount: Int { state.withLock { $0.channels.count } }

    /// The other ends, each once: of all sessions, and of the connections that have none.
    var links: [Link] {
        let connected = state.withLock { $0.channels.values.map(\.link) }
        var links: [ObjectIdentifier: Link] = [:]
        for link in connected + sessions.all { links[ObjectIdentifier(link)] = link }
        return Array(links.values)
    }

    @discardableResult
    func listen(on endpoint: Endpoint) async throws -> Endpoint {
        let address = try address(of: endpoint)
        try checkExports(for: endpoint)
        let loop = try firstLoop(for: endpoint)
        let listener: Listener
        do {
            listener = try await Listener.listen(
                on: address, loop: loop, report: { [logLimiter] in logLimiter.log(LogRecord(.warning, $0)) }
            ) {
                [weak self] socket, address in self?.accept(socket, from: address)
            }
        } catch {
            throw RPCServer.ListenError(endpoint: endpoint, description: "\(error)")
        }
        let isServing = state.withLock { state in
            guard state.phase == .serving else { return false }
            state.listeners.append(listener)
            return true
        }
        guard isServing else {
            await withCheckedContinuation { closed in
                loop.submit {
                    listener.close()
                    closed.resume()
                }
            }
            throw Self.stopped.thrownByProxy
        }
        return Endpoint(listener.endpoint)
    }

    private static let stopped = RPCError(.closed, "the server was stopped", outcome: .notExecuted)

    /// Refuses the first address when a proxy could not be exported. Later a line in the log is enough, since the server
    /// already serves other objects.
    private func checkExports(for endpoint: Endpoint) throws {
        guard let refusal = exports.refusal, state.withLock({ $0.listeners.isEmpty }) else { return }
        throw RPCServer.ListenError(endpoint: endpoint, description: "cannot serve \(endpoint): \(refusal)")
    }

    /// Replaces the list of tokens, then checks all channels and sessions against it. A channel that opens meanwhile
    /// uses the new list.
    func reload(_ list: TokenList) {
        tokens.withLock { $0 = list }
        for channel in state.withLock({ Array($0.channels.values) }) { channel.judgeAgain() }
        sessions.judgeAgain()
    }

    private func address(of endpoint: Endpoint) throws -> SocketEndpoint {
        let address: SocketEndpoint
        do throws(SetupError) {
            address = try endpoint.socket()
        } catch {
            throw RPCServer.ListenError(endpoint: endpoint, description: error.description)
        }
        guard address.isLoopback || tokens.withLock({ $0 }) != nil || configuration.allowsOtherMachines else {
            throw RPCServer.ListenError(
                endpoint: endpoint,
                description:
                    "\(endpoint) can be reached from other machines, and there are no tokens: listen on loopback, "
                    + "set tokens (--tokens), or set allowsOtherMachines (--insecure)"
            )
        }
        return address
    }

    /// The loops start with the first address, so that a server that never listens has no threads.
    private func firstLoop(for endpoint: Endpoint) throws -> EventLoop {
        try state.withLock { state in
            guard state.phase == .serving else { throw Self.stopped.thrownByProxy }
            do throws(SystemError) {
                if state.monitor == nil { state.monitor = makeMonitor() }
                while state.loops.count < max(1, configuration.threads) {
                    let number = state.loops.count
                    let loop = try EventLoop(name: "rpc-\(number)", monitor: state.monitor)
                    state.loops.append(loop)
                    state.runners.append(
                        RequestRunner(
                            loop: loop, handoff: loop, number: number, maximumWait: configuration.limits.maximumWait))
                }
            } catch {
                throw RPCServer.ListenError(endpoint: endpoint, description: "cannot serve \(endpoint): \(error)")
            }
            return state.loops[0]
        }
    }

    private func makeMonitor() -> HandoffMonitor? {
        guard configuration.limits.maximumBlockedThreads > 0 else { return nil }
        var events = HandoffMonitor.Events()
        events.tookOver = { [traffic] in traffic.count { $0.takeovers += 1 } }
        events.waits = { [traffic, logLimiter] limit, why in
            if let limit { traffic.overran(limit) }
            // In a task, since this thread watches other loops as well and a log may block.
            Task.detached { logLimiter.log(LogRecord(.warning, why)) }
        }
        return HandoffMonitor(maximumBlockedThreads: configuration.limits.maximumBlockedThreads, events: events)
    }

    /// How often at most the largest debtors are looked for.
    private static let reliefInterval = Duration.milliseconds(10)

    /// Has the sessions end that owe most, until an eighth of all bytes is free. Returns at once.
    private func relieve() {
        let loop = EventLoop.shared
        loop.submit { [weak self] in
            guard let self else { return }
            let links = state.withLock { $0.channels.values.map(\.link) }
            sessions.endDebtors(of: traffic.bytes - traffic.maximumBytes / 8 * 7, and: links)
            loop.schedule(at: loop.now.advanced(by: Self.reliefInterval)) { [traffic] in traffic.reliefIsOver() }
        }
    }

    private func accept(_ socket: Socket, from address: SocketAddress) {
        let neighbourhood = address.neighbourhood
        let (refusal, place) = state.withLock { state -> (Limit?, (number: Int, loops: [EventLoop], RequestRunner)?) in
            guard state.phase == .serving else { return (nil, nil) }
            if let limit = state.count.add(from: neighbourhood) { return (limit, nil) }
            state.accepted += 1
            return (nil, (state.accepted, state.loops, state.runners[state.accepted % state.runners.count]))
        }
        if let refusal { refuse(address, refusal) }
        guard let (number, loops, runner) = place else { return socket.close() }
        traffic.count { $0.accepted += 1 }
        let carrier = SocketChannel(
            socket, on: loops[number % loops.count], remoteAddress: "\(address)", limits: configuration.limits.output,
            pausesReading: true)
        serve(wrap(carrier), number: number, from: neighbourhood, runner: runner)
    }

    private func refuse(_ address: SocketAddress, _ limit: Limit) {
        traffic.overran(limit)
        let text = "refused \(address): \(configuration.limits.overrun(of: limit))"
        logLimiter.log(LogRecord(.warning, text, peer: "\(address)"))
    }

    private func serve(_ carrier: any ByteChannel, number: Int, from neighbourhood: String?, runner: RequestRunner) {
        let context = LinkContext(
            runner: runner, exports: exports, settings: linkSettings, sessions: sessions, log: logLimiter.log)
        let link = Link(context)
        let channel = FramedChannel(carrier, for: link)
        let isServing = state.withLock { state in
            guard state.phase == .serving else { return false }
            state.channels[number] = channel
            return true
        }
        guard isServing else {
            state.withLock { $0.count.remove(from: neighbourhood) }
            return carrier.abort()
        }
        carrier.loop.submit {
            link.open(channel, number: number) { [self] _, event in
                switch event {
                case .ready, .rejected, .retired, .answered: break
                case .replaced(let successor): replace(number, by: successor)
                case .ended: ended(number, from: neighbourhood)
                }
            }
        }
    }

    /// A new channel has taken over the connection, perhaps on another loop.
    private func replace(_ number: Int, by successor: any MessageChannel) {
        let isServing = state.withLock { state in
            state.channels[number] = successor
            return state.phase == .serving
        }
        if !isServing { successor.abort() }
    }

    private func ended(_ number: Int, from neighbourhood: String?) {
        let done = state.withLock { state in
            state.channels[number] = nil
            state.count.remove(from: neighbourhood)
            return state.finishIfDone()
        }
        done?.perform()
    }
}
