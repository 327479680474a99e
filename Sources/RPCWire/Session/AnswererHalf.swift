// The answering half of a conversation with another end: which of its requests have a place here, which answers are kept until
// it has them, how far this end has come, and how the session goes on and ends. Pure: events in, effects out, time passed in.
// `CallerHalf` is the mirror image.
//
// The driver feeds one event at a time, on its loop, and does what is returned. Requests are known by their slots here.

@usableFromInline
package struct AnswererHalf: ~Copyable {
    package struct Limits: Sendable {
        package var requests = Int.max
        package var requestBytes = Int.max
        package var keptReplies = Int.max
        package var keptReplyBytes = Int.max
        /// The most bytes that a message may have, either way.
        package var frameSize = Int.max

        package init() {}
    }

    private let limits: Limits
    /// The requests that have a place. The driver tells the table directly what concerns nothing else here.
    @usableFromInline package var calls: IncomingCalls
    /// How far this end has come with what the other end sends.
    @usableFromInline package var receipts = Receipts()
    /// The answers that the other end may not have.
    @usableFromInline package private(set) var replies = KeptMessages()
    /// How many bytes of them the totals of all sessions have been told of.
    private var toldReplyBytes = 0
    @usableFromInline package var life = Life()
    /// When the driver will next report that time has passed.
    @usableFromInline package private(set) var wakesAt = Instant.distantFuture
    /// What the other end's calls may take unless they say otherwise, in milliseconds. Nil for one that never said hello.
    package private(set) var assumedTimeout: Int64?
    /// The most bytes that a message to the other end may have.
    package private(set) var frameLimit: Int

    package init(_ limits: Limits) {
        self.limits = limits
        calls = IncomingCalls(limit: limits.requests, byteLimit: limits.requestBytes)
        frameLimit = limits.frameSize
    }

    /// The other end's calls may take so long unless they say otherwise, in milliseconds.
    package mutating func assume(timeout: Int64?) { assumedTimeout = timeout }

    /// The other end takes no longer messages than this.
    package mutating func limitFrames(to size: Int) { frameLimit = size }
}

// MARK: requests

extension AnswererHalf {
    /// When the other end stops waiting for the answer to a call, as far as it told.
    /// - Parameters:
    ///   - timeout: as the call has it, in milliseconds.
    ///   - isOurKind: whether the other end says in its hello what its calls take.
    package func deadline(after timeout: Int64?, isOurKind: Bool, at now: Instant) -> Instant {
        guard let left = timeout ?? (isOurKind ? assumedTimeout : nil) else { return .distantFuture }
        return now.advanced(byMilliseconds: left)
    }

    /// Whether a deadline is now the next one, so that the driver's timer is to be set anew.
    @inlinable @inline(__always)
    package mutating func isNextDue(_ deadline: Instant) -> Bool {
        guard deadline < wakesAt else { return false }
        noteNextDue(deadline)
        return true
    }

    @usableFromInline
    mutating func noteNextDue(_ deadline: Instant) { wakesAt = deadline }

    /// Time passed. The slots to stop; `wakesAt` is the next deadline.
    package mutating func expire(at now: Instant) -> [Int] {
        let due = calls.expire(at: now)
        wakesAt = calls.nextDeadline ?? .distantFuture
        return due
    }

    /// The slots to stop when no answer is awaited any more. Posts of an end that has left in good order still run: it was told
    /// that they have come.
    package mutating func stopAll() -> [Int] { life.hasLeft ? calls.peerLeft() : calls.sessionEnded() }
}

// MARK: answers

extension AnswererHalf {
    /// What each session may keep, however much the others do.
    private static var little: Int { 4_096 }

    /// An answer to a call that has run goes out. It is kept until the other end has it, if the session can go on.
    /// - Parameters:
    ///   - shared: the same, if it lies in memory of its own: then it is not copied.
    ///   - isFullInAll: whether all sessions together keep as much as they may. A single answer may be as long as an answer can be.
    /// - Returns: the limit for which it is not kept, if there is one. The call had begun before there was too much.
    package mutating func keep(
        _ answer: UnsafeRawBufferPointer, shared: Bytes? = nil, isFullInAll: Bool
    ) -> Limit? {
        let kept = replies.byteCount
        if kept >= limits.keptReplyBytes { return .maximumKeptReplyBytes }
        if isFullInAll, kept + answer.count >= Self.little { return .maximumKeptReplyBytesInAll }
        if let shared {
            replies.keep(shared: shared, number: replies.last + 1)
        } else {
            replies.keep(answer, number: replies.last + 1)
        }
        return nil
    }

    /// Keeps an answer even at the limits: the one that stands for another that is not kept.
    package mutating func keepAnyway(_ answer: UnsafeRawBufferPointer) {
        replies.keep(answer, number: replies.last + 1)
    }

    /// An answer to a request that never began goes out, or one that says what became of another. Nothing holds up what need not
    /// begin, so a peer that acknowledges nothing could have any number of them kept.
    /// - Returns: the limit for which the peer is to lose its way back, if there is one.
    package mutating func keepRefusal(_ answer: UnsafeRawBufferPointer, isFullInAll: Bool) -> Limit? {
        replies.keep(answer, number: replies.last + 1)
        let kept = replies.byteCountOfSmall
        guard kept >= 16 * Self.little else { return nil }
        if kept / 2 >= limits.keptReplyBytes { return .maximumKeptReplyBytes }
        return isFullInAll ? .maximumKeptReplyBytesInAll : nil
    }

    /// Whether answers are kept that the other end may not have.
    @inlinable package var keepsAnswers: Bool { life.isResumable && !replies.isEmpty }

    /// The limit for which no call begins before some answers have been acknowledged. Where others keep too much, this session
    /// may still keep little.
    package func overrunByReplies(isFullInAll: Bool) -> Limit? {
        guard keepsAnswers else { return nil }
        let kept = replies.byteCount
        if kept >= limits.keptReplyBytes { return .maximumKeptReplyBytes }
        if isFullInAll, kept >= Self.little { return .maximumKeptReplyBytesInAll }
        return replies.count >= limits.keptReplies ? .maximumKeptReplies : nil
    }

    /// The other end has so many answers.
    package mutating func acknowledged(replies number: Int64) { replies.release(through: number) }

    /// How many bytes of kept answers the totals are told of: not of every answer but of every few kilobytes. Nil for none.
    package mutating func takeNewsOfReplies() -> Int? {
        let change = replies.byteCount &- toldReplyBytes
        guard change.magnitude >= 4_096 || change < 0 && replies.isEmpty else { return nil }
        toldReplyBytes = replies.byteCount
        return change
    }

    /// Whether the other end can have come so far with what this one sends. Where no answers are kept none are counted.
    /// - Parameter last: the highest number that a call or a post to the other end has had.
    package func canHave(requests: Int64, replies number: Int64, last: Int64) -> Bool {
        requests <= last && (number <= replies.last || !life.isResumable)
    }
}

// MARK: how the session goes on and ends

extension AnswererHalf {
    /// The session goes on over another channel. The other end has so many answers.
    /// - Returns: the answers that it lacks.
    package mutating func resumed(replies number: Int64) -> [Bytes] {
        life.resumed()
        replies.release(through: number)
        return replies.messages.map(\.message)
    }

    /// There is no way back to the session, and no answer is kept any more.
    package mutating func endsWithChannel() {
        life.endsWithChannel()
        replies.removeAll()
    }

    /// The session is over, and nothing is kept any more.
    /// - Returns: the slots to stop; nil if it was over before.
    package mutating func close() -> [Int]? {
        guard life.end() else { return nil }
        replies.removeAll()
        calls.held.dropBatches()
        return stopAll()
    }
}
