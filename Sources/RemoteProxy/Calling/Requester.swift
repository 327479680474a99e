// The driver of `CallerHalf`: it locks, feeds the event, unlocks and acts. It outlives the channels that serve it one after
// another. Calls come from any thread; replies, deadlines and losses come from the loop.

import JSONCodec
import RPCSockets
package import RPCWire
import Synchronization

/// A connection, as a requester uses it.
struct Route: Sendable {
    let channel: any MessageChannel
    /// Tells it from the others that serve the same requester.
    let number: Int
    /// The version of `Hello.protocol` that the other end speaks; 0 if it does not run this library.
    var version: Int

    init(_ channel: any MessageChannel, _ number: Int, _ version: Int) {
        (self.channel, self.number, self.version) = (channel, number, version)
    }

    var peerRunsLibrary: Bool { version > 0 }
    /// Whether the other end understands lists of objects, and gives objects back.
    var listsObjects: Bool { version >= Hello.withObjects }
    /// Whether the other end passes all metadata on.
    var peerPassesAllOn: Bool { version == Hello.oldest }

    /// Tells the other end that this one will not come back. The caller flushes.
    func sayGoodbye() {
        if peerRunsLibrary { channel.append { MessageWriter.writeNotification(SystemMethod.goodbye, in: $0) } }
    }
}

/// Makes calls and posts to the other end, whichever end dialled.
package final class Requester: Sendable {
    struct State: ~Copyable {
        var half: CallerHalf
        /// Where new calls go; nil while there is no connection.
        var route: Route?
        /// Connections that take no new calls. They end once nothing is awaited from them any more.
        var retired: [Route] = []
        /// The link that new calls belong to; it may have no channel now.
        var link: Link?
        /// Why no call may be made any more; nil while calls may be made.
        var closed: Shared<RPCError>?
        /// Whether a task is about to flush for all callers that are not on the loop.
        var isFlushPromised = false
        /// Due at `half.wakesAt`.
        var timer: (any LoopTimer)?
        /// Keeps the connection up; nil at an end that listens.
        weak var owner: (any AnyObject & Sendable)?
        var onWanted: (@Sendable () -> Void)?
        /// Called when no post is pending any more. Set when the requester takes no more calls and posts.
        var onSettled: (@Sendable () -> Void)?
        /// Called when the requester takes no more calls and posts; by the numbers of the watches.
        var onClosed: [Int: @Sendable () -> Void] = [:]
        var lastWatch = 0
        /// Which methods the other end has, as it has said over the present connection. Another one may lead to another server.
        var supported: [String: Bool] = [:]
        var objects = ObjectsUnderWay()
        /// Whether there are any. Stored here, because every reply asks.
        var namesObjects = false
        /// What the account has been told of the pending calls and posts.
        var reported = ReportedBytes()
    }

    package let loop: any Loop
    /// Puts calling code on the loop if it has the loop's thread. Nil where the loop never changes its thread.
    private let handoff: (any Handoff)?
    /// How long a call may take, in nanoseconds.
    let timeout: Int64
    let log: @Sendable (LogRecord) -> Void
    let state: Lock<State>
    let spareCalls = SpareCalls()
    /// The objects of this end that others have been given.
    let ownObjects = OwnObjects()
    /// How many of them the other end may have at a time, and how many one message may name.
    let mostReferences: Int
    let mostNamed: Int
    /// Whether objects are to be given back to the other end.
    let owesObjects = Atomic(false)
    /// What is kept at this end for the other one.
    package let account: SessionAccount

    package init(_ context: LinkContext) {
        loop = context.runner.loop
        handoff = context.runner.handoff
        let settings = context.settings.value
        let half = CallerHalf(
            callBytes: settings.limits.maximumPendingCallBytes, postBytes: settings.limits.maximumPendingPostBytes,
            frameSize: settings.limits.maximumFrameSize, waitsForConnection: settings.waitsForConnection)
        state = Lock(State(half: half))
        timeout = settings.timeout.nanoseconds
        mostReferences = settings.limits.maximumReferences
        mostNamed = min(settings.limits.maximumReferencesInMessage, Message.mostNamed)
        log = context.log
        account = SessionAccount(settings.traffic, mostKept: settings.limits.maximumBytesInFlight)
    }

    deinit { tell(untoldRefusals: state.withLock { $0.half.untoldRefusals }) }
}

// MARK: calls

extension Requester {
    /// A call in the scope of the running task, with an empty message.
    func newCall(in scope: CallScope? = .current) -> OutgoingCall {
        let call = spareCalls.take(for: self)
        if let scope { call.inherit(scope, for: self) }
        return call
    }

    /// The call of that number, which the other end names as the cause of a request; nil if it waits for no answer over that channel.
    func waitingCall(_ number: Int64, over channel: Int) -> WaitingCall? {
        state.withLock { state in
            state.half.call(numbered: number, sentOver: channel).flatMap { OutgoingCall.with($0) }?
                ._withUnsafeGuaranteedRef {
                    WaitingCall(
                        requester: self, number: number, channel: channel, task: $0.origin.task, scope: $0.origin.scope)
                }
        }
    }

    func waits(for call: WaitingCall) -> Bool {
        state.withLock { $0.half.call(numbered: call.number, sentOver: nil) != nil }
    }

    /// Sends a call, waits for its end, and returns that end, whichever it is.
    func perform(_ call: OutgoingCall) async -> CallEnd {
        let remote = _RemoteCall(.passUnretained(call), through: self)
        remote.begin()
        await remote.wait()
        remote.end()
        extendLifetime(self)
        return call.takeEnd()
    }

    /// Starts a call whose caller waits: sends it if there is a connection, or refuses it at once. Either way the call has its
    /// end when the waiter is resumed.
    func start(_ call: OutgoingCall, for waiter: Waiter) {
        let visit = call.visit
        let isOnLoop = visit.isOnLoop
        let now = loop.now
        call.begin(at: now, timeout)
        // What was let go before the call is given back before it.
        if owesObjects.load(ordering: .relaxed) { giveBack() }
        // No lock is needed yet: only this thread knows the call before it is in the table.
        call.waiter = waiter
        var failure: CallFailure?
        let after = state.withLock { state -> AfterSending in
            // The cancellation handler may have run already.
            failure = call.isCancelled ? .cancelled(wasSent: false) : nil
            if failure == nil, account.isOverdrawn { failure = .noRoomInAll }
            guard failure == nil else { return AfterSending() }
            defer { tellBytes(&state) }
            return enter(call, at: now, isOnLoop: isOnLoop, &failure, &state)
        }
        if let failure { call.finish(.failed(failure))?.resume() }
        // Last in this turn: the caller waits now, or was refused and there is nothing to send.
        perform(after, isLast: true)
        handoff?.leave(visit)
    }

    /// Puts the calling code on the loop, if it has the loop's thread, until the call is started.
    func enter() -> LoopVisit { handoff?.enter() ?? (loop.isCurrent ? .atHome : .elsewhere) }

    private func enter(
        _ call: OutgoingCall, at now: Instant, isOnLoop: Bool, _ failure: inout CallFailure?, _ state: inout State
    ) -> AfterSending {
        let (id, isSent): (Int64, Bool)
        let bound = call.boundSession
        if let bound, !state.isClosedHere, bound.isOver || bound !== state.link?.objects {
            failure = bound.whyGone
            return AfterSending()
        }
        let due = state.half.wakesAt
        switch state.half.call(
            .init(
                call.handle, length: call.count, deadline: call.deadline, call.persistence, isBound: bound != nil),
            isCrowded: state.route?.channel.isCrowded == true, at: now)
        {
        case .success(let begun): (id, isSent) = begun
        case .failure(let reason):
            failure = reason
            // The next call may find a connection.
            if case .unreachable = reason { return AfterSending(wantsConnection: true) }
            return AfterSending()
        }
        call.id = id
        var after = AfterSending(wantsConnection: true)
        if isSent, let route = state.route {
            dispatch(call, id, over: route, at: now, state.link, &state.half)
            if let objects = call.named { state.leave(objects, as: id, over: route) }
            after = flushing(route, atOnce: isOnLoop || state.half.pendingCalls == 1, &state)
        }
        if state.half.wakesAt < due { after.wakeAt = call.deadline }
        return after
    }

    /// Takes the calls that these replies answer out of the table and resumes their callers. On the loop.
    /// - Returns: how many calls were answered, and the number of a call that was never made and answered all the same.
    func replied(_ replies: inout [CallReply], over channel: Int) -> (answers: Int, stray: Int64?) {
        var isOnlyOne = false
        var answers = 0
        var toFlush: (any MessageChannel)?
        var stray: Int64?
        // Kept until the lock is free: what goes away with them may need it.
        var settled: [NamedObjects] = []
        let finished = state.withLock { state -> [Route] in
            defer { if state.namesObjects { settled += state.settle() } }
            for index in replies.indices {
                if let handle = state.half.replied(to: replies[index].number, over: channel),
                    let call = OutgoingCall.with(handle)
                {
                    answers += 1
                    if state.namesObjects, channel == state.route?.number {
                        settled += state.objects.arrived(through: replies[index].number)
                    }
                    replies[index].waiter = call._withUnsafeGuaranteedRef { call in
                        if let objects = replies[index].objects.take() { call.listed = objects }
                        return call.finish(replies[index].end.take())
                    }
                } else if replies[index].number < 1 || replies[index].number > state.half.lastNumber {
                    stray = replies[index].number
                }
            }
            isOnlyOne = replies.count == 1 && state.half.pendingCalls == 0
            if state.half.messagesWait, sendWaiting(at: loop.now, &state) { toFlush = state.route?.channel }
            tellBytes(&state)
            return state.retired.isEmpty ? [] : state.take(state.half.takeFinished())
        }
        // Before the callers go on: what they let go of then must not be kept here any longer.
        if !settled.isEmpty { settled = [] }
        if let handoff {
            handoff.answer(onlyOf: isOnlyOne ? ObjectIdentifier(self) : nil) { resume(replies) }
        } else {
            resume(replies)
        }
        toFlush?.flush()
        finish(finished)
        return (answers, stray)
    }

    private func finish(_ routes: [Route]) {
        for route in routes { loop.submit { route.channel.link.finishWhenIdle() } }
    }

    @inline(__always)
    private func resume(_ replies: [CallReply]) {
        for index in replies.indices { replies[index].waiter?.resume() }
    }

    /// Called when the other end refused a call before any work because it is going away. The call tries the next connection.
    func refused(_ number: Int64, over channel: Int) {
        feed { $0.half.refused(number, over: channel) }
    }

    /// Called when the caller's task is cancelled, before the call has begun or later.
    func cancel(_ call: OutgoingCall) {
        feed { state in
            guard let id = call.id else {
                call.isCancelled = true
                return nil
            }
            return state.half.cancel(id)
        }
    }

    private func deadlineDue() {
        let now = loop.now
        feed { $0.half.expire(at: now) }
    }

    private func wake(at instant: Instant) {
        // A strong reference, cancelled by `close`: weak references to the requester would make all others slow.
        let timer = loop.schedule(at: instant) { [self] in deadlineDue() }
        let old = state.withLock { state -> (any LoopTimer)? in
            // Another thread may have set an earlier timer since; that one must stay.
            guard state.closed == nil, instant == state.half.wakesAt else { return timer }
            defer { state.timer = timer }
            return state.timer
        }
        old?.cancel()
    }

    /// Asks for a connection, because a call waits for one.
    func connectionWanted() {
        state.withLock { $0.onWanted }?()
    }

    /// The error that the caller of a call without a reply gets.
    /// - Parameter method: the method that the error names.
    func error(_ failure: CallFailure, of method: MethodSignature? = nil) -> any Error {
        guard var error = RPCError(failure) else { return CancellationError() }
        if case .closed = failure, let closed = state.withLock({ $0.closed })?.value {
            let outcome = error.outcome == .unknown ? .unknown : closed.outcome
            error = closed
            error.outcome = outcome
        }
        if let method {
            error.message = "\(method.wireName): \(error.message)"
            error.method = method.wireName
        }
        error.peer = link?.address
        return error
    }
}

// MARK: posts

extension Requester {
    /// Sends a post. Without a connection, keeps it in its place among the messages that wait for one.
    /// - Parameters:
    ///   - method: the method that the log names if the post is refused; nil for a message that no program has made.
    ///   - session: the session whose objects the post gives back; nil for any other post. Such a post has no deadline.
    /// - Returns: false if the post was refused, or has nothing to give back.
    @discardableResult
    func send(
        post call: OutgoingCall, of method: MethodSignature? = nil, givingBackIn session: SessionObjects? = nil
    ) -> Bool {
        call.begin(at: loop.now, timeout)
        if session != nil {
            call.deadline = .distantFuture
        } else if owesObjects.load(ordering: .relaxed) {
            giveBack()
        }
        // The flush is left to the end of the turn only on the loop: elsewhere the caller may go on for long.
        let isOnLoop = loop.isCurrent
        let message = call.message
        let open = message.count
        let objects = call.named
        if let objects { MessageWriter.write(objects: objects.listed, in: message) }
        if let metadata = call.metadata { MessageWriter.write(metadata, in: message) }
        let bound = call.boundSession
        let kind: PostKind = session != nil ? .ofProtocol : bound == nil ? .free : .ofSession
        var refusal: CallFailure?
        var isAccepted = false
        var released: [SessionObjects.Released] = []
        var untoldRefusals = 0
        let after = state.withLock { state -> AfterSending in
            let route = state.route
            defer { tellBytes(&state) }
            if let bound, !state.isClosedHere, bound.isOver || bound !== state.link?.objects {
                if method != nil, state.half.countRefusal(bound.whyGone) { refusal = bound.whyGone }
                return AfterSending()
            }
            if let session {
                released = takeReleased(of: session, into: message, &state)
                if released.isEmpty { return AfterSending() }
            }
            switch account.isOverdrawn
                ? .failure(.noRoomInAll)
                : state.half.post(
                    message.bytes, ownBytes: message.count - open, until: call.deadline,
                    isCrowded: route?.channel.isCrowded == true, peerRunsLibrary: route?.peerRunsLibrary == true,
                    kind: kind)
            {
            case .success((let number, let isSent)):
                isAccepted = true
                if let objects {
                    state.objects.keep(objects, ofPost: number)
                    state.namesObjects = true
                }
                untoldRefusals = state.half.takeUntoldRefusals()
                guard let route else { return AfterSending(wantsConnection: true) }
                guard isSent else { return AfterSending() }
                if !route.peerRunsLibrary { message.truncate(to: open) }
                dispatch(post: message, number, over: route)
                if let objects { state.leave(objects, as: number, over: route) }
                return flushing(route, atOnce: isOnLoop, &state)
            case .failure(let failure):
                if method != nil, state.half.countRefusal(failure) { refusal = failure }
                return AfterSending()
            }
        }
        if let refusal, let method {
            tell("the post \(method.wireName)\(link.map { " to \($0.address)" } ?? "") was not sent: \(error(refusal))")
        }
        tell(untoldRefusals: untoldRefusals)
        spareCalls.give(call)
        perform(after)
        if !isAccepted, !released.isEmpty { session?.putBack(released) }
        return isAccepted
    }

    /// Called when the other end has all posts up to this number that it was given over this channel.
    func acknowledged(posts number: Int64, over channel: Int) {
        var arrived: [NamedObjects] = []
        feed { state in
            if channel == state.route?.number { arrived = state.objects.arrived(through: number) }
            return state.half.acknowledged(posts: number, over: channel)
        }
        withExtendedLifetime(arrived) {}
    }

    private func tell(untoldRefusals count: Int) {
        guard count > 0 else { return }
        tell("\(LostPosts.text(count)) not sent either, for the reason that was logged with the first")
    }

    private func tell(_ lost: LostPosts, because why: String) {
        if lost.count > 0 { tell(lost.text(because: why)) }
    }

    /// Logs what became of posts.
    private func tell(_ message: String) { log(LogRecord(.error, message, peer: link?.address)) }
}

// MARK: queueing messages; under the lock

extension Requester {
    /// Ends the message of a call and puts it into the outgoing queue.
    private func dispatch(
        _ call: OutgoingCall, _ id: Int64, over route: borrowing Route, at now: Instant, _ link: Link?,
        _ half: inout CallerHalf
    ) {
        call.writeAgain()
        let message = call.message
        let open = message.count
        if let metadata = call.metadata, route.peerRunsLibrary {
            MessageWriter.write(route.peerPassesAllOn ? metadata.passedOn : metadata, in: message)
        }
        if let objects = call.named, route.listsObjects { MessageWriter.write(objects: objects.listed, in: message) }
        let inside = route.version >= Hello.withTransfers ? call.origin.place?.number(over: link) : nil
        MessageWriter.closeRequest(
            id: id, timeout: timeLeft(for: call, over: route, at: now), inside.map { .inside($0) } ?? .none,
            in: message)
        // The message is kept without its end: if the connection is lost, the call may be sent again.
        let offset: UInt64
        if let large = Bytes(takingLarge: message) {
            offset = route.channel.append(.shared(large))
            call.given = large[0..<open]
        } else {
            offset = route.channel.append(.copied(message.bytes))
            message.truncate(to: open)
        }
        call.mayHaveRun = half.sent(id, at: ChannelOffset(channel: route.number, offset: offset))
    }

    private func dispatch(post message: JSONOutput, _ number: Int64, over route: Route) {
        if route.peerPassesAllOn { MessageWriter.keepPassedOnMetadata(in: message) }
        MessageWriter.closeRequest(id: nil, timeout: nil, route.peerRunsLibrary ? .post(number) : .none, in: message)
        route.channel.append(.copied(message.bytes))
    }

    /// The time left for a call, in milliseconds. Nil for a foreign peer, and when the time is the one that the other end
    /// assumes.
    private func timeLeft(for call: OutgoingCall, over route: borrowing Route, at now: Instant) -> Int64? {
        guard route.version > 0, call.deadline < .distantFuture else { return nil }
        // A call just made under the default timeout has all of it left, except for the microseconds since.
        guard call.deadline < now.advanced(byNanoseconds: timeout - 1_000_000) else { return nil }
        // Rounded up: the caller goes by its own clock, and the other end need not stop before.
        return max(0, now.nanoseconds(to: call.deadline) / 1_000_000) + 1
    }

    /// Says how a message just queued is sent. On the loop the channel flushes, at the end of the turn or before. Elsewhere a
    /// lone caller flushes at once, and several callers share one flush.
    private func flushing(_ route: borrowing Route, atOnce: Bool, _ state: inout State) -> AfterSending {
        if atOnce { return AfterSending(flush: route.channel) }
        defer { state.isFlushPromised = true }
        return AfterSending(flushesForAll: !state.isFlushPromised)
    }
}

/// What is to be done for a call or post after the lock is released: code called under the lock could need the lock again.
private struct AfterSending {
    /// The channel to flush now.
    var flush: (any MessageChannel)?
    /// Whether to flush later, together with what others queue meanwhile.
    var flushesForAll = false
    var wantsConnection = false
    var wakeAt: Instant?
}

extension Requester {
    /// Does what is left to do, usually only a flush. Inlined, since `after` would be copied otherwise.
    /// - Parameter isLast: whether the calling code does nothing more in this turn of the loop.
    @inline(__always)
    private func perform(_ after: AfterSending, isLast: Bool = false) {
        after.flush?.flush(isLast ? .last : .more)
        if after.flushesForAll { flushForAll() }
        if let wakeAt = after.wakeAt { wake(at: wakeAt) }
        if after.wantsConnection { connectionWanted() }
    }

    /// Flushes behind all callers that are ready to run. Not inlined, since making a task reserves stack space beforehand.
    @inline(never)
    private func flushForAll() {
        Task.detached(priority: Task.currentPriority) { [self] in
            state.withLock { state in
                state.isFlushPromised = false
                return state.route?.channel
            }?.flush()
        }
    }
}

// MARK: rare events

extension Requester {
    /// Feeds the half an event, and acts on its effects.
    /// - Returns: false if the event had no effects, that is, returned nil.
    @discardableResult
    func feed(_ event: (inout State) -> CallerEffects?) -> Bool {
        let now = loop.now
        var callers: [Waiter] = []
        var touched: [any MessageChannel] = []
        var finished: [Route] = []
        var onSettled: (@Sendable () -> Void)?
        var settled: [NamedObjects] = []
        defer { withExtendedLifetime(settled) {} }
        let effects = state.withLock { state -> CallerEffects? in
            guard let effects = event(&state) else { return nil }
            touched = send(effects, at: now, &state)
            callers = effects.ended.compactMap { ended in
                OutgoingCall.with(ended.call)?._withUnsafeGuaranteedRef { $0.finish(.failed(ended.failure)) }
            }
            finished = state.take(effects.finished)
            tellBytes(&state)
            if state.namesObjects { settled += state.settle() }
            if effects.isSettled { swap(&onSettled, &state.onSettled) }
            return effects
        }
        guard let effects else { return false }
        for caller in callers { caller.resume() }
        tell(effects.lost, because: effects.lossReason)
        tell(
            LostPosts(unsent: effects.dropped),
            because:
                "too late for their deadline (timeout), or longer than a message to the other end may be (maximumFrameSize)"
        )
        tell(untoldRefusals: effects.untoldRefusals)
        for channel in touched { channel.flush() }
        if let wakeAt = effects.wakeAt { wake(at: wakeAt) }
        if effects.wantsConnection { connectionWanted() }
        finish(finished)
        onSettled?()
        return true
    }

    /// Queues the messages that an event has to send. Returns the channels to flush.
    private func send(_ effects: CallerEffects, at now: Instant, _ state: inout State) -> [any MessageChannel] {
        var touched: [any MessageChannel] = []
        func touch(_ channel: any MessageChannel) {
            if !touched.contains(where: { $0 === channel }) { touched.append(channel) }
        }
        renumber(effects)
        for (id, number) in effects.cancels {
            guard let channel = state.route(numbered: number)?.channel else { continue }
            channel.append { MessageWriter.writeCancel(of: id, in: $0) }
            touch(channel)
        }
        if state.half.messagesWait, sendWaiting(at: now, &state), let route = state.route { touch(route.channel) }
        // Behind the posts that it is about.
        if let number = effects.reportOver, let route = state.route(numbered: number), route.peerRunsLibrary {
            route.channel.append { MessageWriter.writeNotification(SystemMethod.report, in: $0) }
            touch(route.channel)
        }
        return touched
    }

    private func renumber(_ effects: CallerEffects) {
        for (id, handle) in effects.renumbered { OutgoingCall.with(handle)?._withUnsafeGuaranteedRef { $0.id = id } }
    }

    /// Queues what waits for the channel, until the channel is crowded. `outputChanged` goes on when it is not any more.
    /// - Returns: whether the channel is to be flushed.
    @inline(never)
    private func sendWaiting(at now: Instant, _ state: inout State) -> Bool {
        guard let route = state.route else { return false }
        let output = JSONOutput()
        var hasSent = false
        while !route.channel.isCrowded {
            let effects = state.half.takeWaiting(peerRunsLibrary: route.peerRunsLibrary)
            if effects.sends.isEmpty { break }
            hasSent = true
            renumber(effects)
            for sent in effects.sends {
                switch sent {
                case .call(let handle, let id):
                    guard let call = OutgoingCall.with(handle)?.takeUnretainedValue() else { continue }
                    dispatch(call, id, over: route, at: now, state.link, &state.half)
                    if let objects = call.named { state.leave(objects, as: id, over: route) }
                case .post(let message, let number):
                    output.removeAll()
                    message.withUnsafeBytes { output.append($0) }
                    dispatch(post: output, number, over: route)
                    if let objects = state.objects.ofPost(number) { state.leave(objects, as: number, over: route) }
                }
            }
        }
        return hasSent
    }

    /// Tells the account how much is pending, if that has changed enough.
    @inline(__always)
    private func tellBytes(_ state: inout State) {
        guard account.isCounted, let change = state.reported.change(to: state.half.pendingBytes) else { return }
        account.owes(change)
    }

    /// Called when less waits in the channel than before. On the loop.
    func outputChanged() {
        if ask({ $0.messagesWait }) { feed { _ in CallerEffects() } }
    }
}

extension Requester.State {
    /// Whether this end was closed by its owner, which calls are told then.
    fileprivate var isClosedHere: Bool { closed?.value.code == .closed }

    /// A message that names objects leaves under this number.
    fileprivate mutating func leave(_ named: NamedObjects, as number: Int64, over route: Route) {
        objects.leave(named, as: number, in: link?.objects, isListed: route.listsObjects)
        namesObjects = true
    }

    /// Forgets the objects of posts that are settled.
    fileprivate mutating func settle() -> [NamedObjects] {
        defer { namesObjects = !objects.areNone }
        return objects.settle(by: half)
    }

    fileprivate func route(numbered number: Int) -> Route? {
        if let route, route.number == number { return route }
        return retired.first { $0.number == number }
    }

    /// The route over this channel; nil if nothing goes over it any more.
    func route(over channel: any MessageChannel) -> Route? {
        if let route, route.channel === channel { return route }
        return retired.first { $0.channel === channel }
    }

    /// Takes out the retired connections with these numbers, from which nothing is awaited any more.
    fileprivate mutating func take(_ finished: [Int]) -> [Route] {
        guard !finished.isEmpty else { return [] }
        let routes = retired.filter { finished.contains($0.number) }
        retired.removeAll { finished.contains($0.number) }
        return routes
    }
}
