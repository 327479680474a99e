// The calling half of a link: which calls and posts may begin and under which numbers, what is sent again over a new
// connection, and how each call ends. Pure: events in, effects out, time passed in. `AnswererHalf` is its counterpart.
//
// The driver feeds one event at a time, under its lock. Still under the lock it appends the messages of the effects to their
// streams, so that messages leave in the order of their numbers. Then it frees the lock and does the rest. A stream is named by
// its number here, a call by its handle.

@usableFromInline
package struct CallerHalf: ~Copyable, Sendable {
    package struct Limits: Sendable {
        package let pendingCalls: Int
        package let pendingPostBytes: Int
        package let frameSize: Int

        package init(pendingCalls: Int, pendingPostBytes: Int, frameSize: Int) {
            (self.pendingCalls, self.pendingPostBytes, self.frameSize) = (pendingCalls, pendingPostBytes, frameSize)
        }
    }

    private let limits: Limits
    @usableFromInline var calls = OutgoingCalls()
    var posts: PendingPosts
    /// The stream for new calls; nil while there is no connection.
    package internal(set) var stream: Int?
    /// Streams that take no new calls, but over which replies or acknowledgements may still come.
    var leaving: [Int] = []
    /// The numbers of calls that were sent and whose callers have given up. The peer may not know that yet.
    var abandoned: Set<Int64> = []
    /// Whether new calls belong to a session that exists. It may be without a connection now.
    var hasSession = false
    package internal(set) var isClosed = false
    /// Whether there is no connection, and since the last one an attempt has failed or the peer did not answer.
    package internal(set) var isUnreachable = false
    /// Whether calls wait for the next connection while the peer cannot be reached, if nothing else is said of the call.
    let waitsForConnection: Bool
    /// Why there is no connection; nil if no reason is known.
    var reason: String?
    /// The most bytes that a message to the peer may have.
    package private(set) var frameLimit: Int
    /// When the driver's timer is due next and calls `expire`.
    package private(set) var wakesAt = Instant.distantFuture

    package init(_ limits: Limits, waitsForConnection: Bool = true) {
        self.limits = limits
        self.waitsForConnection = waitsForConnection
        posts = PendingPosts(byteLimit: limits.pendingPostBytes)
        frameLimit = limits.frameSize
    }

    // MARK: queries

    /// How many calls have not ended. Inlinable for the reason that `AnswererHalf` gives.
    @inlinable package var pendingCalls: Int { calls.count }
    /// How many posts the peer may not have.
    package var pendingPosts: Int { posts.count }
    /// How many posts were lost since `close`.
    package var lostPosts: Int { posts.lost }
    /// The highest number that a call or a post has had.
    package var lastNumber: Int64 { calls.lastNumber }
    /// Why there is no connection, for the errors of callers whose time is over while they wait for one.
    package var unavailableReason: String { reason ?? "no connection was made" }
    package var untoldRefusals: Int { posts.untoldRefusals }

    /// How long a message may be without its end. 64 bytes are left for the end, which has a number and a time.
    var longest: Int { frameLimit - 64 }

    /// Sets the most bytes that the peer takes in a message; nil if it has named no limit.
    package mutating func limitFrames(to size: Int?) {
        frameLimit = min(limits.frameSize, max(64, size ?? .max))
    }
}

// MARK: calls

extension CallerHalf {
    /// A call that has begun.
    package struct Begun {
        package let id: Int64
        /// Whether its deadline is now the next one. If so, the driver sets its timer to it.
        package let isNextDue: Bool
    }

    /// Begins a call, which then waits until the driver reports it by `sent`. Returns failures and never throws: debuggers and
    /// test libraries look at each thrown error, and cannot walk some frames of the caller's stack.
    package mutating func call(_ call: OutgoingCalls.Call, at now: Instant) -> Result<Begun, CallFailure> {
        if isClosed { return .failure(.closed(wasSent: false)) }
        guard calls.count < limits.pendingCalls else {
            return .failure(.tooManyPending(most: limits.pendingCalls))
        }
        if isUnreachable,
            Self.isEnded(call.persistence, mayHaveArrived: false, waitsForConnection: waitsForConnection)
        {
            return .failure(.unreachable(unavailableReason))
        }
        guard call.length <= longest else { return .failure(.tooLarge(call.length, most: frameLimit)) }
        guard call.deadline > now else { return .failure(.noTimeLeft) }
        let id = calls.start(call)
        guard call.deadline < wakesAt else { return .success(Begun(id: id, isNextDue: false)) }
        wakesAt = call.deadline
        return .success(Begun(id: id, isNextDue: true))
    }

    /// The driver has given the call to a stream. Returns whether it may also have run in a session that is lost.
    package mutating func sent(_ id: Int64, at place: StreamOffset) -> Bool { calls.sent(id, at: place) }

    /// A reply has come. Nil if no call waits for it over this stream.
    package mutating func replied(to id: Int64, over stream: Int) -> CallHandle? {
        // The answer to a call shows that all posts before it have arrived.
        if !posts.isEmpty, stream == self.stream { posts.release(through: id) }
        if let call = calls.replied(to: id, over: stream) { return call }
        if !abandoned.isEmpty { abandoned.remove(id) }
        return nil
    }

    /// Whether a call was sent over this stream and is not answered.
    package func awaits(_ id: Int64, over stream: Int) -> Bool { calls.awaits(id, over: stream) }

    /// Returns, once each, the streams that take no new calls and from which nothing is awaited any more. Called after replies.
    package mutating func takeFinished() -> [Int] {
        guard !leaving.isEmpty else { return [] }
        let finished = leaving.filter { !posts.isPending(on: $0) && !calls.isWaiting(on: $0) }
        leaving.removeAll { finished.contains($0) }
        return finished
    }

    /// The peer refused a call before any work because it is going away. The call waits for the next connection.
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

    /// Time has passed. Ends the calls whose deadlines are due.
    package mutating func expire(at now: Instant) -> CallerEffects {
        var effects = CallerEffects()
        let why = unavailableReason
        let isLost = stream == nil && leaving.isEmpty
        let removed = calls.expire(at: now)
        effects.end(removed) { $0 ? .deadlineExceeded(isLost ? why : nil) : .unavailable(why) }
        abandon(removed, &effects)
        wakesAt = calls.nextDeadline ?? .distantFuture
        if wakesAt < .distantFuture { effects.wakeAt = wakesAt }
        return effects
    }

    /// Tells the peer that no caller waits any more for these calls, as far as they were sent.
    mutating func abandon(_ removed: [OutgoingCalls.Removed], _ effects: inout CallerEffects) {
        effects.finished = takeFinished()
        for call in removed where call.wasSent {
            var isOver = true
            if let stream = call.stream, stream == self.stream || leaving.contains(stream) {
                effects.cancels.append((call.id, over: stream))
                isOver = stream == self.stream
            }
            // Kept until it is answered: if the connection is lost first, the peer is told again over the next one.
            if isOver { rememberAbandoned(call.id) }
        }
    }

    private mutating func rememberAbandoned(_ id: Int64) {
        if hasSession, abandoned.count < limits.pendingCalls { abandoned.insert(id) }
    }

    /// Whether a call ends instead of waiting for the next attempt to connect.
    private static func isEnded(_ persistence: Persistence, mayHaveArrived: Bool, waitsForConnection: Bool) -> Bool {
        switch persistence {
        // If it may have arrived, its answer may come when the session goes on.
        case .waits, .waitsAndRepeats: !waitsForConnection && !mayHaveArrived
        case .endsIfSent: mayHaveArrived
        case .ends: true
        }
    }

    /// Ends the calls that do not wait for the next attempt, if there is no connection for now.
    /// - Parameter isLasting: whether the next attempt would fail as well. Then all calls end that cannot have arrived.
    mutating func endUnreachable(_ effects: inout CallerEffects, isLasting: Bool = false) {
        guard isUnreachable else { return }
        let why = unavailableReason
        let waitsForConnection = waitsForConnection
        let removed = calls.withdrawWaiting { call, mayHaveArrived in
            isLasting && !mayHaveArrived
                || Self.isEnded(
                    call.persistence, mayHaveArrived: mayHaveArrived, waitsForConnection: waitsForConnection)
        }
        for call in removed where call.wasSent { rememberAbandoned(call.id) }
        effects.end(removed) { $0 ? .connectionLost(why) : .unreachable(why) }
    }
}

// MARK: posts

extension CallerHalf {
    /// Begins a post. The driver gives it to the stream; without a stream it is kept until there is one.
    /// - Parameters:
    ///   - message: the message without its end, which has the number.
    ///   - ownBytes: how many of its last bytes are for peers that run this library only: its metadata.
    ///   - peerRunsLibrary: whether the peer runs this library, and so acknowledges posts.
    /// - Returns: its number.
    package mutating func post(
        _ message: UnsafeRawBufferPointer, ownBytes: Int = 0, until deadline: Instant, peerRunsLibrary: Bool
    ) -> Result<Int64, CallFailure> {
        if isClosed { return .failure(.closed(wasSent: false)) }
        guard !posts.isFull else { return .failure(.tooManyPosts(mostBytes: limits.pendingPostBytes)) }
        guard message.count <= longest else { return .failure(.tooLarge(message.count, most: frameLimit)) }
        let number = calls.takeNumber()
        if stream == nil {
            posts.keep(message, ownBytes: ownBytes, number: number, until: deadline)
        } else {
            posts.send(message, ownBytes: ownBytes, number: number, isKept: peerRunsLibrary)
        }
        return .success(number)
    }

    /// A post was refused. Returns whether the log is told now: for each post that is itself at fault, but only for the first
    /// of many that are refused for another reason.
    package mutating func noteRefusal(_ failure: CallFailure) -> Bool {
        if case .tooLarge = failure { return true }
        return posts.noteRefusal()
    }

    /// Returns how many refused posts the log must be told of. 0 until at most half of the permitted bytes are pending: before
    /// that, posts could be refused again at once.
    package mutating func takeUntoldRefusals() -> Int { posts.hasRoom ? posts.takeUntoldRefusals() : 0 }

    /// The peer has all posts up to this number that it was given over this stream.
    package mutating func acknowledged(posts number: Int64, over stream: Int) -> CallerEffects {
        var effects = CallerEffects()
        posts.acknowledged(number, over: stream)
        effects.isSettled = posts.takeSettled()
        effects.finished = takeFinished()
        return effects
    }

    /// The peer has left in good order and takes no more posts. Pending posts are lost.
    package mutating func otherEndLeft() { _ = posts.loseAll() }
}
