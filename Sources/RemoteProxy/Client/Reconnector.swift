// The driver of `Reconnection`. Dials, opens a channel with a fresh link over each connection, and begins again when that
// channel is lost. Each function locks, feeds the event, unlocks and acts.

import RPCSockets
import RPCWire

final class Reconnector: Sendable {
    /// How a wait for a connection ended.
    typealias Connected = Result<Void, RPCError>

    struct State {
        var machine: Reconnection
        /// The number of the present attempt, and of its channel. Reports of earlier attempts come too late and are ignored.
        var attempt = 0
        var channel: (any MessageChannel)?
        var giveUp: (@Sendable () -> Void)?
        var timer: (any LoopTimer)?
        /// The callers of `connect`.
        var connecting = WaitingLine<Connected>()
        /// With which code the server has refused the present attempt; nil if it has not.
        var rejection: RPCError.Code?
        /// Why connecting failed, as the log was told last; nil once there has been a connection since. Without a hello, the
        /// connection must also have been of use.
        var toldFailure: String?
        /// Why the last attempt failed, or the last connection was lost.
        var loss = RPCError.notConnected("no connection was made")
        /// Whether no more calls and posts are taken. Pending posts have until `graceTimer` fires.
        var isClosing = false
        var graceTimer: (any LoopTimer)?
        /// How many posts were lost; nil until the client has closed for good.
        var lostPosts: Int?
        /// The channel that was in use at closing or pausing; nil once it has ended.
        var last: (any MessageChannel)?
        var finishing: [CheckedContinuation<Int, Never>] = []
        /// Whether `finish` no longer waits for the last connection.
        var isGraceOver = false
    }

    let context: LinkContext
    let requester: Requester
    let states = StateBroadcast(RPCClient.State.idle)
    let dialer: Dialer
    let configuration: RPCClient.Configuration
    private let chance: @Sendable () -> Double
    let state: Lock<State>

    init(
        _ dialer: Dialer, _ configuration: RPCClient.Configuration, exports: Exports,
        chance: @escaping @Sendable () -> Double
    ) {
        self.dialer = dialer
        self.chance = chance
        self.configuration = configuration
        state = Lock(State(machine: Reconnection(backoff: configuration.reconnect.waits)))
        context = LinkContext(
            runner: RequestRunner(loop: dialer.loop, handoff: dialer.handoff), exports: exports,
            settings: Shared(configuration.linkSettings),
            log: LogLimiter(most: configuration.limits.maximumLogLines, on: dialer.loop, write: configuration.log).log)
        requester = Requester(context)
        requester.whenConnectionWanted { [weak self] in self?.wanted() }
    }

    var saysHello: Bool { context.settings.value.saysHello }

    /// Called when a call waits and there is no connection.
    private func wanted() {
        let action = state.withLock { $0.machine.wanted() }
        // On the loop, so that listeners get the states in their order.
        if action != .nothing { dialer.loop.submit { [self] in perform(action) } }
    }

    func perform(_ action: Reconnection.Action) {
        switch action {
        case .nothing: break
        case .dial: dial()
        case .wait(let until): wait(until: until)
        }
    }

    /// Returns when there is a connection to a server that was heard a short time ago, or has answered a ping. Makes an attempt
    /// at once, unless there is a connection or one is being made.
    /// - Throws: why that attempt failed, or that the client is paused or closed.
    func connect() async throws {
        let caller = state.withLock { $0.isClosing ? nil : $0.connecting.join() }
        guard let caller else { throw requester.error(.closed(wasSent: false)) }
        // On the loop, where attempts end, so that a wait has begun before it is cut short.
        dialer.loop.submit { [self] in hurry(caller) }
        let deadline = CallScope.current?.deadline ?? .distantFuture
        guard let end = try await caller.wait(until: deadline, on: dialer.loop) else {
            throw RPCError.notConnected("the time allowed is over; \(requester.ask { $0.unavailableReason })")
        }
        try end.get()
    }

    /// Has the callers of `connect` told at once if there is a connection that works. Otherwise it is probed, or one is made,
    /// and they wait for that. On the loop.
    func hurry(_ caller: WaitingTask<Connected>? = nil) {
        let (action, waiting, channel) = state.withLock { state in
            let isFirst = state.machine.wanted() == .dial
            let action = isFirst ? .dial : state.machine.waited()
            let channel = state.machine.phase == .connected ? state.channel : nil
            return (action, action == .dial ? state.timer.take() : nil, channel)
        }
        waiting?.cancel()
        perform(action)
        if let channel, !channel.probe() { endConnecting(.success(())) }
        tellPause(caller)
    }

    private func answered(_ attempt: Int) {
        // Over a connection that was left for another one, the answer says nothing of that one.
        let isPresent = state.withLock { $0.attempt == attempt && $0.machine.phase == .connected }
        if isPresent { endConnecting(.success(())) }
    }

    /// Tells the callers of `connect`.
    func endConnecting(_ end: Connected) {
        for caller in state.withLock({ $0.connecting.takeAll() }) { _ = caller.end(with: end) }
    }

    private func dial() {
        let attempt = state.withLock { state -> Int? in
            // Paused or closed meanwhile.
            guard state.machine.phase == .connecting else { return nil }
            state.attempt += 1
            return state.attempt
        }
        guard let attempt else { return }
        states.send(.connecting)
        let giveUp = dialer.dial { [weak self] result in
            if let self { return dialled(result, attempt) }
            // The client is gone, and with it the only owner that the connection would have had.
            if case .success(let carrier) = result { carrier.abort() }
        }
        let timer = dialer.loop.schedule(at: dialer.loop.now.advanced(by: configuration.connectTimeout)) {
            [weak self] in
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

    /// The time of the next attempt has come. A program is started again only if it is needed, or is the way back to a session.
    private func dialAgain() {
        let rests =
            !isNeeded
            && state.withLock { state in
                guard state.machine.rest() else { return false }
                // What the former attempt still has to say does not concern the next one.
                state.attempt += 1
                return true
            }
        guard rests else { return dial() }
        // The next call waits for the next attempt.
        requester.ask { $0.mayBeReached() }
        states.send(.idle)
        // A call that was made before has asked in vain.
        if isNeeded { wanted() }
    }

    /// Whether a connection is of use now, and not only when the next call is made.
    private var isNeeded: Bool {
        // A program that serves its parent keeps no session beyond its end.
        let grace = Link.resumable(by: requester)?.half.life.grace ?? .zero
        return !dialer.startsProgram || grace > .zero || requester.pendingCalls > 0 || requester.pendingPosts > 0
            || !context.exports.isEmpty || states.isRead || state.withLock { !$0.connecting.isEmpty }
    }

    private func told(_ event: ChannelEvent, by channel: any MessageChannel, of attempt: Int) {
        switch event {
        case .ready(let isResumed): ready(attempt, isResumed)
        case .rejected(let code, let why): rejected(attempt, code, because: why)
        case .answered: answered(attempt)
        case .replaced: break
        case .retired(let why, let wasOfUse):
            lost(attempt, because: why, wasOfUse: wasOfUse, isLeaving: saysHello)
        case .ended(let why, let wasOfUse):
            ended(channel)
            // Calls that were sent over it wait as those do that were not.
            tellPause()
            lost(attempt, because: why, wasOfUse: wasOfUse)
        }
    }

    private func dialled(_ result: Result<any ByteChannel, SetupError>, _ attempt: Int) {
        switch result {
        case .failure(let error):
            lost(attempt, because: error.description, isLasting: error.isLasting)
        case .success(let carrier):
            let link = Link(context, requester)
            let channel = FramedChannel(carrier, for: link, configuration.framing.framer)
            let isCurrent = state.withLock { state in
                guard state.attempt == attempt, state.machine.phase == .connecting else { return false }
                state.channel = channel
                return true
            }
            guard isCurrent else { return carrier.abort() }
            if saysHello {
                let why = "\(carrier.remoteAddress) has taken the connection and not answered the greeting"
                requester.ask { $0.waitsForGreeting(why) }
            }
            link.open(channel, number: attempt) { [weak self] channel, event in
                self?.told(event, by: channel, of: attempt)
            }
        }
    }

    private func ready(_ attempt: Int, _ isResumed: Bool) {
        let now = dialer.loop.now
        let ready = state.withLock { state -> (timer: (any LoopTimer)?, callers: [WaitingTask<Connected>])? in
            guard state.attempt == attempt, state.machine.connected(at: now) else { return nil }
            // Without a hello, what has taken the connection may be anything.
            if saysHello { state.toldFailure = nil }
            return (state.timer, state.connecting.takeAll())
        }
        guard let ready else { return }
        ready.timer?.cancel()
        states.send(.connected(resumed: isResumed))
        for caller in ready.callers { _ = caller.end(with: .success(())) }
    }

    /// The callers of `connect` are told now; the attempt ends when its channel does.
    private func rejected(_ attempt: Int, _ code: RPCError.Code, because why: String) {
        let callers = state.withLock { state -> [WaitingTask<Connected>]? in
            guard state.attempt == attempt else { return nil }
            state.rejection = code
            return state.connecting.takeAll()
        }
        guard let callers else { return }
        tellFailure(why)
        for caller in callers { _ = caller.end(with: .failure(.notConnected(why, code))) }
    }

    /// Tells the log why connecting failed, unless it knows.
    private func tellFailure(_ why: String) {
        let isNews = state.withLock { state in
            defer { state.toldFailure = why }
            return state.toldFailure != why
        }
        if isNews { context.log(LogRecord(.warning, "cannot connect, trying again: \(why)")) }
    }

    private func timedOut(_ attempt: Int) {
        let (channel, giveUp) = state.withLock { state -> ((any MessageChannel)?, (@Sendable () -> Void)?) in
            guard state.attempt == attempt, state.machine.phase == .connecting else { return (nil, nil) }
            return (state.channel, state.giveUp)
        }
        giveUp?()
        channel?.abort()
        let what = channel.map { "\($0.remoteAddress): no greeting" } ?? "no connection"
        lost(attempt, because: "\(what) within \(configuration.connectTimeout) (connectTimeout)")
    }

    /// - Parameters:
    ///   - isLasting: whether the next attempt would fail in the same way.
    ///   - wasOfUse: whether a call was answered over the connection.
    ///   - isLeaving: whether the server says that it takes no more calls, so that it is not dialled again at once.
    private func lost(
        _ attempt: Int, because why: String, isLasting: Bool = false, wasOfUse: Bool = false, isLeaving: Bool = false
    ) {
        let now = dialer.loop.now
        var (hasFailed, isUnreachable, willFailAgain) = (false, false, false)
        var callers: [WaitingTask<Connected>] = []
        var error = RPCError.notConnected(why)
        let (action, timer) = state.withLock { state -> (Reconnection.Action, (any LoopTimer)?) in
            guard state.attempt == attempt else { return (.nothing, nil) }
            hasFailed = state.machine.phase == .connecting
            var action =
                isLeaving
                ? state.machine.left(at: now, chance: chance(), wasOfUse: wasOfUse)
                : state.machine.lost(at: now, chance: chance(), wasOfUse: wasOfUse)
            guard action != .nothing else { return (.nothing, nil) }
            if wasOfUse { state.toldFailure = nil }
            isUnreachable = hasFailed || action != .dial && state.machine.hasFailedBefore
            willFailAgain = isLasting || state.rejection != nil
            if willFailAgain { state.machine.willFailAgain(at: now) }
            error.code = state.rejection ?? error.code
            state.loss = error
            defer {
                state.rejection = nil
                state.channel = nil
                state.giveUp = nil
                state.timer = nil
            }
            if hasFailed {
                callers = state.connecting.takeAll()
            } else if !state.connecting.isEmpty, action != .dial {
                // These callers wait for a ping of the connection that is lost. The next attempt is theirs.
                action = state.machine.waited()
            }
            return (action, state.timer)
        }
        timer?.cancel()
        if action != .nothing {
            if hasFailed { tellFailure(why) }
            if isUnreachable {
                requester.feed { $0.half.unreachable(because: why, isLasting: isLasting) }
            } else {
                requester.ask { $0.unavailable(because: why) }
            }
        }
        if action == .dial { dialAgain() } else { perform(action) }
        for caller in callers { _ = caller.end(with: .failure(error)) }
        // A call that was made while the attempt failed has asked for one in vain.
        if willFailAgain, requester.pendingCalls > 0 { wanted() }
    }

    private func wait(until instant: Instant) {
        let loss = state.withLock { $0.machine.phase == .waiting(until: instant) ? $0.loss : nil }
        guard let loss else { return }
        states.send(.waiting(until: .now + dialer.loop.now.duration(to: instant), because: loss))
        let timer = dialer.loop.schedule(at: instant) { [weak self] in
            guard let self else { return }
            if state.withLock({ $0.machine.waited() }) == .dial { dialAgain() }
        }
        // Not needed: a longer wait that this one replaces, or this one, if it is over or replaced already.
        let unneeded = state.withLock { state -> (any LoopTimer)? in
            guard state.machine.phase == .waiting(until: instant) else { return timer }
            defer { state.timer = timer }
            return state.timer
        }
        unneeded?.cancel()
    }
}
