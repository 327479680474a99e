// The driver of `Reconnection`: dials, greets, and hands the ready connection to the peer. Begins again when the connection
// is lost. Each function locks, feeds the event, unlocks and acts.

import RPCSockets
import RPCWire

final class Reconnector: Sendable {
    struct State {
        var machine: Reconnection
        /// The number of the attempt, or connection, that counts. Reports of earlier ones are too late and ignored.
        var attempt = 0
        var connection: Connection?
        var giveUp: (@Sendable () -> Void)?
        var timer: (any LoopTimer)?
        /// No more calls and posts are taken. Pending posts have until `graceTimer` fires.
        var isClosing = false
        var graceTimer: (any LoopTimer)?
        /// How many posts were lost; nil until the client has closed for good.
        var lostPosts: Int?
        /// The connection at the moment of closing, until it has ended.
        var last: Connection?
        var finishing: [CheckedContinuation<Int, Never>] = []
        /// `finish` no longer waits for the last connection.
        var isGraceOver = false
    }

    let peer: Requester
    let states = StateBroadcast(RPCClient.State.idle)
    let dialer: Dialer
    private let framing: Framing
    private let connectTimeout: Duration
    let postGrace: Duration
    private let chance: @Sendable () -> Double
    let state: Lock<State>

    init(
        _ dialer: Dialer, _ configuration: RPCClient.Configuration, exports: Exports,
        chance: @escaping @Sendable () -> Double
    ) {
        self.dialer = dialer
        self.chance = chance
        framing = configuration.wireFraming
        connectTimeout = configuration.connectTimeout
        postGrace = configuration.postGrace
        state = Lock(State(machine: Reconnection(backoff: configuration.backoff)))
        peer = Requester(
            runner: RequestRunner(loop: dialer.loop, handoff: dialer.handoff), exports: exports,
            settings: configuration.peerSettings,
            log: LogValve(most: configuration.maximumLogLines, on: dialer.loop, write: configuration.log).log)
        peer.whenConnectionWanted { [weak self] in self?.wanted() }
    }

    /// A call waits and there is no connection.
    private func wanted() {
        perform(state.withLock { $0.machine.wanted() })
    }

    func perform(_ action: Reconnection.Action) {
        switch action {
        case .nothing: break
        case .dial: dial()
        case .wait(let until): wait(until: until)
        }
    }

    private func dial() {
        states.send(.connecting)
        let attempt = state.withLock { state in
            state.attempt += 1
            return state.attempt
        }
        let giveUp = dialer.dial { [weak self] result in self?.dialled(result, attempt) }
        let timer = dialer.loop.schedule(at: dialer.loop.now.advanced(by: connectTimeout)) { [weak self] in
            self?.timedOut(attempt)
        }
        let (isLate, isReady) = state.withLock { state in
            // A connection that says no hello may be ready already.
            let isReady = state.attempt == attempt && state.machine.phase == .connected
            guard state.attempt == attempt, state.machine.phase == .connecting else { return (true, isReady) }
            state.giveUp = giveUp
            state.timer = timer
            return (false, false)
        }
        if isLate { timer.cancel() }
        if isLate, !isReady { giveUp() }
    }

    private func dialled(_ result: Result<any ByteChannel, DialError>, _ attempt: Int) {
        switch result {
        case .failure(let error):
            lost(attempt, because: error.description)
        case .success(let stream):
            var events = Connection.Events()
            events.ready = { [weak self] _ in self?.ready(attempt) }
            let saysHello = peer.settings.saysHello
            events.leaving = { [weak self] _, why in
                self?.lost(attempt, because: why) { machine, now, chance in
                    // A server that closes after each answer still takes the next call.
                    saysHello
                        ? machine.left(at: now, chance: chance) : machine.lost(at: now, chance: chance, wasOfUse: true)
                }
            }
            events.ended = { [weak self] connection, why in
                self?.endedLast(connection)
                let wasOfUse = connection.wasOfUse
                self?.lost(attempt, because: why) { machine, now, chance in
                    machine.lost(at: now, chance: chance, wasOfUse: wasOfUse)
                }
            }
            let connection = Connection(stream, number: attempt, peer: peer, role: .dialled(framing), events: events)
            let isCurrent = state.withLock { state in
                guard state.attempt == attempt, state.machine.phase == .connecting else { return false }
                state.connection = connection
                return true
            }
            guard isCurrent else { return stream.abort() }
            if peer.settings.saysHello { peer.waitsForGreeting(from: stream.remoteAddress) }
            connection.open()
        }
    }

    private func ready(_ attempt: Int) {
        let now = dialer.loop.now
        let (isReady, timer) = state.withLock { state -> (Bool, (any LoopTimer)?) in
            guard state.attempt == attempt, state.machine.connected(at: now, isGreeted: peer.settings.saysHello)
            else { return (false, nil) }
            return (true, state.timer)
        }
        timer?.cancel()
        if isReady { states.send(.connected) }
    }

    private func timedOut(_ attempt: Int) {
        let (connection, giveUp) = state.withLock { state -> (Connection?, (@Sendable () -> Void)?) in
            guard state.attempt == attempt, state.machine.phase == .connecting else { return (nil, nil) }
            return (state.connection, state.giveUp)
        }
        giveUp?()
        connection?.stream.abort()
        lost(attempt, because: "no greeting within \(connectTimeout) (connectTimeout)")
    }

    private func lost(
        _ attempt: Int, because why: String,
        _ event: (inout Reconnection, Instant, _ chance: Double) -> Reconnection.Action = {
            $0.lost(at: $1, chance: $2)
        }
    ) {
        let now = dialer.loop.now
        var hasFailed = false
        let (action, timer) = state.withLock { state -> (Reconnection.Action, (any LoopTimer)?) in
            guard state.attempt == attempt else { return (.nothing, nil) }
            hasFailed = state.machine.phase == .connecting
            let action = event(&state.machine, now, chance())
            guard action != .nothing else { return (.nothing, nil) }
            defer {
                state.connection = nil
                state.giveUp = nil
                state.timer = nil
            }
            return (action, state.timer)
        }
        timer?.cancel()
        if action != .nothing {
            if hasFailed { peer.unreachable(because: why) } else { peer.unavailable(because: why) }
        }
        perform(action)
    }

    private func wait(until instant: Instant) {
        states.send(.waiting(until: .now + dialer.loop.now.duration(to: instant)))
        let timer = dialer.loop.schedule(at: instant) { [weak self] in
            guard let self else { return }
            perform(state.withLock { $0.machine.waited() })
        }
        let isClosed = state.withLock { state in
            state.timer = timer
            return state.machine.phase == .closed
        }
        if isClosed { timer.cancel() }
    }
}
