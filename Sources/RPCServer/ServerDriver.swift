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
        var places: [Place] = []
        /// For the clients in this process, on their loop. Made for the first of them.
        var placeInProcess: Place?
        /// Gives a loop another thread when a subject blocks the loop's thread.
        var monitor: HandoffMonitor?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Where a connection is served.
    struct Place {
        let loop: EventLoop
        let runner: RequestRunner
    }

    let configuration: RPCServer.Configuration
    let exports: Exports
    let traffic: Traffic
    let logLimiter: LogLimiter
    private let linkSettings: Shared<LinkSettings>
    let state: Lock<State>
    /// Makes the channel of an accepted connection from that of its socket.
    private let wrap: @Sendable (any ByteChannel) -> any ByteChannel
    /// Says when to look at the files of the certificate.
    private let clock: any Loop
    /// Nil until an address needs it.
    let tls = Lock<ServerTLS?>(nil)
    /// The sessions of all clients, also of those that have lost their connection.
    let sessions: SessionTable

    init(
        _ configuration: RPCServer.Configuration, clock: any Loop = EventLoop.shared,
        wrap: @escaping @Sendable (any ByteChannel) -> any ByteChannel = { $0 }
    ) {
        (self.clock, self.wrap) = (clock, wrap)
        self.configuration = configuration
        exports = Exports(of: Program(title: configuration.programName, version: configuration.programVersion))
        sessions = SessionTable(grace: configuration.limits.sessionGrace, limit: configuration.limits.maximumSessions)
        // One more, for the loop of the clients in this process.
        let traffic = Traffic(
            loops: max(1, configuration.threads) + 1, maximumRequests: configuration.limits.maximumRequestsInAll,
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
        linkSettings = Shared(settings)
        state = Lock(State(count: ConnectionCount(configuration.limits)))
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

    /// - Parameter inherited: listens there already.
    @discardableResult
    func listen(on endpoint: Endpoint, _ inherited: InheritedSocket? = nil) async throws -> Endpoint {
        let place: ListeningPlace
        do throws(SetupError) {
            place = try ListeningPlace(
                endpoint, configuration, hasTokens: linkSettings.value.tokens.withLock { $0 } != nil)
            if !configuration.allowsOtherMachines, let objection = place.objection(to: endpoint) {
                throw SetupError(objection)
            }
            if place.tls != .absent { try readCertificate() }
        } catch {
            throw RPCServer.ListenError(endpoint: endpoint, description: error.description)
        }
        if let refusal = firstRefusal {
            throw RPCServer.ListenError(endpoint: endpoint, description: "cannot serve \(endpoint): \(refusal)")
        }
        let loop = try firstLoop(for: endpoint)
        let listener: Listener
        do {
            listener = try await Listener.listen(
                on: place.socket, inherited, loop: loop,
                report: { [logLimiter] in logLimiter.log(LogRecord(.warning, $0)) }
            ) {
                [weak self] socket, address in self?.accept(socket, from: address, place.tls)
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
        let isRequired = place.tls == .required
        let destination = Destination.tls(listener.endpoint, pin: tls.withLock { $0 }?.pin)
        return Endpoint(isRequired ? destination : .plain(listener.endpoint))
    }

    private static let stopped = RPCError(.closed, "the server was stopped", outcome: .notExecuted)

    /// Why a proxy could not be exported, before the first address and the first client in this process. Later a line in the log is
    /// enough, since the server already serves other objects.
    private var firstRefusal: String? {
        exports.refusal.flatMap { refusal in
            state.withLock { $0.accepted == 0 && $0.listeners.isEmpty } ? refusal : nil
        }
    }

    /// Replaces the list of tokens, then checks all channels and sessions against it. A channel that opens meanwhile
    /// uses the new list.
    func reload(_ list: TokenList) {
        linkSettings.value.tokens.withLock { $0 = list }
        for channel in state.withLock({ Array($0.channels.values) }) { channel.judgeAgain() }
        sessions.judgeAgain()
    }

    /// Reads the certificate for the first address that needs it.
    private func readCertificate() throws(SetupError) {
        guard let settings = configuration.tls, tls.withLock({ $0 == nil }) else { return }
        let made = try ServerTLS(
            settings, patience: configuration.limits.loginTime, traffic: traffic, clock: clock, log: logLimiter.log)
        let isFirst = tls.withLock { tls in
            defer { if tls == nil { tls = made } }
            return tls == nil
        }
        if !isFirst || state.withLock({ $0.phase != .serving }) { made.stop() }
    }

    /// The loops start with the first address, so that a server that never listens has no threads.
    private func firstLoop(for endpoint: Endpoint) throws -> EventLoop {
        try state.withLock { state in
            guard state.phase == .serving else { throw Self.stopped.thrownByProxy }
            do throws(SystemError) {
                if state.monitor == nil { state.monitor = makeMonitor() }
                while state.places.count < max(1, configuration.threads) {
                    let number = state.places.count
                    let loop = try EventLoop(name: "rpc-\(number)", monitor: state.monitor)
                    state.places.append(ServerDriver.Place(loop, number, configuration.limits))
                }
            } catch {
                throw RPCServer.ListenError(endpoint: endpoint, description: "cannot serve \(endpoint): \(error)")
            }
            return state.places[0].loop
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

    // MARK: connections

    private enum Admission {
        case admitted(number: Int, Place)
        case refused(Limit)
        /// The server takes no connections any more.
        case stopped
    }

    /// Counts a new connection, and decides where it is served.
    /// - Parameters:
    ///   - address: whose connections have a limit of their own; nil for this machine.
    ///   - thread: which thread of the server serves the connection. By default the next one; nil for the clients' own.
    private func admit(from address: String?, onThread thread: (_ number: Int) -> Int? = { $0 }) -> Admission {
        let admission = state.withLock { state -> Admission in
            guard state.phase == .serving else { return .stopped }
            if let limit = state.count.add(from: address) { return .refused(limit) }
            state.accepted += 1
            let number = state.accepted
            return .admitted(number: number, state.place(thread(number), configuration))
        }
        switch admission {
        case .admitted: traffic.count { $0.accepted += 1 }
        case .refused(let limit): traffic.overran(limit)
        case .stopped: break
        }
        return admission
    }

    private func accept(_ socket: Socket, from address: SocketAddress, _ speech: ListeningPlace.Speech) {
        let neighbourhood = address.neighbourhood
        switch admit(from: neighbourhood) {
        case .stopped: socket.close()
        case .refused(let limit):
            tellRefusal(of: "\(address)", limit)
            socket.close()
        case .admitted(let number, let place):
            let carrier = SocketChannel(
                socket, on: place.loop, remoteAddress: "\(address)", limits: configuration.limits.output,
                pausesReading: true)
            let sealed =
                speech == .absent ? nil : tls.withLock { $0 }?.wrap(carrier, admitsPlaintext: speech == .optional)
            serve(wrap(sealed ?? carrier), number: number, from: neighbourhood, runner: place.runner)
        }
    }

    /// Connects a client of this process, on the loop of such clients.
    /// - Parameters:
    ///   - identity: what the client is taken for; nil if it has to show a token where there are some.
    ///   - limits: for the output of the client.
    ///   - thread: which thread of this server serves the connection. Nil for the client's own.
    ///   - server: kept until the client has gone and its posts have run.
    /// - Returns: the client's end of the connection.
    func connect(
        as identity: Identity?, _ limits: OutputLimits, onThread thread: Int?, keeping server: RPCServer
    ) -> Result<any ByteChannel, SetupError> {
        if let refusal = firstRefusal {
            return .failure(SetupError("cannot serve in process: \(refusal)", isLasting: true))
        }
        switch admit(from: nil, onThread: { _ in thread }) {
        case .stopped:
            return .failure(SetupError("the server in this process was stopped; make another one", isLasting: true))
        case .refused(let limit):
            tellRefusal(of: Self.addressInProcess, limit)
            return .failure(SetupError("the server in this process: \(configuration.limits.overrun(of: limit))"))
        case .admitted(let number, let place):
            var (near, far) = (MemoryEnd(on: EventLoop.shared), MemoryEnd(on: place.loop))
            (near.remoteAddress, near.limits) = ("the server in this process", limits)
            (far.remoteAddress, far.limits) = (Self.addressInProcess, configuration.limits.output)
            far.peer = identity.map { .named($0.name, roles: $0.roles) }
            far.pausesReading = true
            let (client, carrier) = MemoryChannel.pair(near, far)
            serve(carrier, number: number, from: nil, runner: place.runner) { [sessions] in
                sessions.whenNoneFinishes { withExtendedLifetime(server) {} }
            }
            return .success(client)
        }
    }

    private static let addressInProcess = "in process"

    private func tellRefusal(of address: String, _ limit: Limit) {
        let text = "refused \(address): \(configuration.limits.overrun(of: limit))"
        logLimiter.log(LogRecord(.warning, text, peer: address))
    }

    /// Serves the program at the standard streams, to whose sessions no client can come back. When it ends its input, its calls and
    /// posts have the grace time of a stop. Then the server stops.
    func serve(_ streams: StandardStreams) throws {
        let endpoint = Endpoint(stringLiteral: StandardStreams.address)
        if let refusal = firstRefusal {
            throw RPCServer.ListenError(endpoint: endpoint, description: "cannot serve \(endpoint): \(refusal)")
        }
        _ = try firstLoop(for: endpoint)
        let (number, place): (Int, Place)
        switch admit(from: nil) {
        case .admitted(let first, let second): (number, place) = (first, second)
        case .refused(let limit):
            let why = configuration.limits.overrun(of: limit)
            throw RPCServer.ListenError(endpoint: endpoint, description: "cannot serve \(endpoint): \(why)")
        case .stopped: throw Self.stopped.thrownByProxy
        }
        let carrier: SocketChannel
        do throws(SetupError) {
            carrier = try streams.channel(on: place.loop, limits: configuration.limits.output)
        } catch {
            state.withLock { $0.count.remove(from: nil) }
            throw RPCServer.ListenError(endpoint: endpoint, description: error.description)
        }
        var settings = linkSettings.value
        settings.limits.halfCloseGrace = settings.limits.stopGrace
        settings.limits.maximumSessionGrace = .zero
        // Its peer was there before it, and speaks when it has something to say.
        settings.limits.firstByteTime = .zero
        let sessions = SessionTable(endingWithin: settings.limits.stopGrace)
        serve(carrier, number: number, from: nil, runner: place.runner, settings: Shared(settings), sessions: sessions)
        {
            [weak self] in
            sessions.whenNoneFinishes { [weak self] in self?.beginStop(grace: nil) }
        }
    }

    /// - Parameters:
    ///   - settings: nil for those of the server; and the same for the sessions.
    ///   - whenEnded: is called when the connection has ended.
    private func serve(
        _ carrier: any ByteChannel, number: Int, from neighbourhood: String?, runner: RequestRunner,
        settings: Shared<LinkSettings>? = nil, sessions: SessionTable? = nil,
        whenEnded: @escaping @Sendable () -> Void = {}
    ) {
        let context = LinkContext(
            runner: runner, exports: exports, settings: settings ?? linkSettings, sessions: sessions ?? self.sessions,
            log: logLimiter.log)
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
                case .ended:
                    ended(number, from: neighbourhood)
                    whenEnded()
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
        done?.end()
    }
}

extension ServerDriver.State {
    /// The place of the connection with that number: on one thread after the other. On the loop of the clients of this process if
    /// there is no number, or no thread.
    fileprivate mutating func place(_ number: Int?, _ configuration: RPCServer.Configuration) -> ServerDriver.Place {
        if let number, !places.isEmpty { return places[number % places.count] }
        let place = placeInProcess ?? ServerDriver.Place(.shared, max(1, configuration.threads), configuration.limits)
        placeInProcess = place
        return place
    }
}

extension ServerDriver.Place {
    /// - Parameter number: that of the loop among the server's.
    fileprivate init(_ loop: EventLoop, _ number: Int, _ limits: Limits) {
        self.loop = loop
        runner = RequestRunner(loop: loop, handoff: loop, number: number, maximumWait: limits.maximumWait)
    }
}
