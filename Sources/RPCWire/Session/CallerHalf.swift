// The calling half of a conversation with another end: which calls and posts may begin, under which numbers, what is sent
// again over a new connection, and how every call ends. Pure: events in, effects out, time passed in.
//
// The driver feeds one event at a time under its lock. Still under the lock it appends the messages that the effects name
// to the streams that they name, so that messages leave in the order of their numbers. Then it frees the lock and does the
// rest. Streams are known by their numbers here, calls by their handles.

package struct CallerHalf: ~Copyable {
    package struct Limits: Sendable {
        package let pendingCalls: Int
        package let pendingPostBytes: Int
        package let frameSize: Int

        package init(pendingCalls: Int, pendingPostBytes: Int, frameSize: Int) {
            (self.pendingCalls, self.pendingPostBytes, self.frameSize) = (pendingCalls, pendingPostBytes, frameSize)
        }
    }

    private let limits: Limits
    var calls = OutgoingCalls()
    var posts: PendingPosts
    /// Where new calls go; nil while there is no connection.
    package internal(set) var stream: Int?
    /// Streams that take no new calls but still owe answers or acknowledgements.
    var leaving: [Int] = []
    /// New calls belong to a session, which may be without a connection now.
    var hasSession = false
    /// Calls that were sent and that no caller waits for any more. The other end may not know yet.
    var abandoned: Set<Int64> = []
    package internal(set) var isClosed = false
    /// There is no connection, and since the last one an attempt has failed or the other end did not answer.
    package internal(set) var isUnreachable = false
    /// Why there is no connection; nil while no attempt has said so.
    var reason: String?
    /// The most bytes that a message to the other end may have.
    package private(set) var frameLimit: Int
    /// When the driver will next report that time has passed.
    package private(set) var wakesAt = Instant.distantFuture

    package init(_ limits: Limits) {
        self.limits = limits
        posts = PendingPosts(byteLimit: limits.pendingPostBytes)
        frameLimit = limits.frameSize
    }

    // MARK: what the driver and its owner ask

    /// Calls that have not ended.
    package var pendingCalls: Int { calls.count }
    /// Posts that the other end may not have.
    package var pendingPosts: Int { posts.count }
    /// How many posts were lost since `close`.
    package var lostPosts: Int { posts.lost }
    /// The highest number that a call or a post has had.
    package var lastNumber: Int64 { calls.lastNumber }
    /// Why there is no connection, for callers that run out of time waiting for one.
    package var whyUnavailable: String { reason ?? "no connection was made" }
    package var untoldRefusals: Int { posts.untoldRefusals }

    /// What a message may have besides its end, which has room for a number and a time.
    var longest: Int { frameLimit - 64 }

    /// The other end takes no longer messages than this; nil if it has named no limit.
    package mutating func limitFrames(to size: Int?) {
        frameLimit = min(limits.frameSize, max(64, size ?? .max))
    }
}

// MARK: calls

extension CallerHalf {
    /// A call that has begun.
    package struct Begun {
        package let id: Int64
        /// Its deadline is now the next one, so that the driver's timer is to be set anew.
        package let isNextDue: Bool
    }

    /// A call begins. It waits until the driver says that it has been sent. Nothing is thrown here: the caller's stack has
    /// frames that a debugger or a test library, which look at each error, cannot go through.
    package mutating func call(_ call: OutgoingCalls.Call, at now: Instant) -> Result<Begun, CallFailure> {
        if isClosed { return .failure(.closed(wasSent: false)) }
        guard calls.count < limits.pendingCalls else {
            return .failure(.tooManyPending(most: limits.pendingCalls))
        }
        if isUnreachable, call.persistence == .ends { return .failure(.unreachable(whyUnavailable)) }
        guard call.length <= longest else { return .failure(.tooLarge(call.length, most: frameLimit)) }
        guard call.deadline > now else { return .failure(.noTimeLeft) }
        let id = calls.start(call)
        guard call.deadline < wakesAt else { return .success(Begun(id: id, isNextDue: false)) }
        wakesAt = call.deadline
        return .success(Begun(id: id, isNextDue: true))
    }

    /// The driver has given the call to the stream. Answers whether it may have run for a session that is lost.
    package mutating func sent(_ id: Int64, at place: StreamPlace) -> Bool { calls.sent(id, at: place) }

    /// A reply came. Nil when no call waits for it there.
    package mutating func replied(to id: Int64, over stream: Int) -> CallHandle? {
        // The answer to a call says that all posts before it have come.
        if !posts.isEmpty, stream == self.stream { posts.release(through: id) }
        if let call = calls.replied(to: id, over: stream) { return call }
        if !abandoned.isEmpty { abandoned.remove(id) }
        return nil
    }

    /// Streams that take no new calls and from which nothing is awaited any more; once each. After replies.
    package mutating func takeFinished() -> [Int] {
        guard !leaving.isEmpty else { return [] }
        let finished = leaving.filter { !posts.isPending(on: $0) && !calls.isWaiting(on: $0) }
        leaving.removeAll { finished.contains($0) }
        return finished
    }

    /// The other end refused a call before any work because it is going away: the call tries the next connection.
    package mutating func refused(_ id: Int64, over stream: Int) -> CallerEffects {
        var effects = CallerEffects()
        guard let call = calls.refused(id, over: stream) else { return effects }
        effects.renumbered = [call]
        effects.finished = takeFinished()
        if self.stream != nil {
            effects.sends = [.call(call.handle, id: call.id)]
        } else {
            effects.wantsConnection = true
            endUnreachable(&effects)
        }
        return effects
    }

    /// The caller's task was cancelled.
    package mutating func cancel(_ id: Int64) -> CallerEffects {
        var effects = CallerEffects()
        guard let call = calls.withdraw(id) else { return effects }
        effects.end([call]) { .cancelled(wasSent: $0) }
        abandon([call], &effects)
        return effects
    }

    /// Time passed: a deadline may be due.
    package mutating func expire(at now: Instant) -> CallerEffects {
        var effects = CallerEffects()
        let why = whyUnavailable
        let isLost = stream == nil && leaving.isEmpty
        let removed = calls.expire(at: now)
        effects.end(removed) { $0 ? .deadlineExceeded(isLost ? why : nil) : .unavailable(why) }
        abandon(removed, &effects)
        wakesAt = calls.nextDeadline ?? .distantFuture
        if wakesAt < .distantFuture { effects.wakeAt = wakesAt }
        return effects
    }

    /// Tells the other end that no caller waits any more for the calls that were sent.
    mutating func abandon(_ removed: [OutgoingCalls.Removed], _ effects: inout CallerEffects) {
        effects.finished = takeFinished()
        for call in removed where call.wasSent {
            var isOver = true
            if let stream = call.stream, stream == self.stream || leaving.contains(stream) {
                effects.cancels.append((call.id, over: stream))
                isOver = stream == self.stream
            }
            // Until it is answered: if the connection is lost first, the other end is told again over the next one.
            if isOver { rememberAbandoned(call.id) }
        }
    }

    private mutating func rememberAbandoned(_ id: Int64) {
        if hasSession, abandoned.count < limits.pendingCalls { abandoned.insert(id) }
    }

    /// While no connection can be had: ends the calls that do not wait for the next attempt.
    mutating func endUnreachable(_ effects: inout CallerEffects) {
        guard isUnreachable else { return }
        let why = whyUnavailable
        let removed = calls.withdrawWaiting { call, mayHaveArrived in
            switch call.persistence {
            case .waits, .waitsAndRepeats: false
            case .endsIfSent: mayHaveArrived
            case .ends: true
            }
        }
        for call in removed where call.wasSent { rememberAbandoned(call.id) }
        effects.end(removed) { $0 ? .connectionLost(why) : .unreachable(why) }
    }
}

// MARK: posts

extension CallerHalf {
    /// A post begins: the driver gives it to the stream, or it is kept until there is one.
    /// - Parameters:
    ///   - message: without its end, which has the number.
    ///   - isOurKind: whether the other end says which posts it has.
    /// - Returns: its number.
    package mutating func post(
        _ message: UnsafeRawBufferPointer, until deadline: Instant, isOurKind: Bool
    ) -> Result<Int64, CallFailure> {
        if isClosed { return .failure(.closed(wasSent: false)) }
        guard !posts.isFull else { return .failure(.tooManyPosts(mostBytes: limits.pendingPostBytes)) }
        guard message.count <= longest else { return .failure(.tooLarge(message.count, most: frameLimit)) }
        let number = calls.takeNumber()
        if stream == nil {
            posts.keep(message, number: number, until: deadline)
        } else {
            posts.send(message, number: number, isKept: isOurKind)
        }
        return .success(number)
    }

    /// A post was refused. Answers whether the log is told of it now: of the first of many that are refused for the same
    /// reason, and of each that is at fault itself.
    package mutating func noteRefusal(_ failure: CallFailure) -> Bool {
        if case .tooLarge = failure { return true }
        return posts.noteRefusal()
    }

    /// Posts are taken again. How many refused posts the log is to be told of, once there is room for that to stay so.
    package mutating func takeUntoldRefusals() -> Int { posts.hasRoom ? posts.takeUntoldRefusals() : 0 }

    /// The other end has all posts up to this number that it was given over this stream.
    package mutating func acknowledged(posts number: Int64, over stream: Int) -> CallerEffects {
        var effects = CallerEffects()
        posts.acknowledged(number, over: stream)
        effects.isSettled = posts.takeSettled()
        effects.finished = takeFinished()
        return effects
    }

    /// The other end has left in good order and takes no more posts.
    package mutating func otherEndLeft() { _ = posts.loseAll() }
}
