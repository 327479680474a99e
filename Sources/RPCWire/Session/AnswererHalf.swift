// The answering half of a link: which requests of the peer have a place here, which answers are kept until the peer has them,
// and how the session goes on and ends. Pure: events in, effects out, time passed in. `CallerHalf` is its counterpart.
//
// The driver feeds one event at a time, on its loop, and does what is returned. A request is named by its slot here.

/// Kept messages in memory of their own.
private final class KeptTransfers {
    var messages = KeptMessages()
}

@usableFromInline
package struct AnswererHalf: ~Copyable {
    // What is asked for each call is inlinable. Another module would copy this whole value to call it, which costs as much as
    // the rest of the question.
    @usableFromInline let mostReplies: Int
    @usableFromInline let mostReplyBytes: Int
    /// The requests that have a place. The driver calls the table directly where no other part of the half is concerned.
    @usableFromInline package var calls: IncomingCalls
    /// How much of what the peer sends has arrived here.
    @usableFromInline package var receipts = Receipts()
    /// The answers that the peer may not have yet.
    @usableFromInline package private(set) var replies = KeptMessages()
    /// The transfers that the peer may not have yet. Often nil, because few sessions ever have one.
    private var transfers: KeptTransfers?
    /// The number of the last transfer that was sent.
    private var lastTransfer: Int64 = 0
    /// Whether the peer knows transfers.
    package var hasTransfers = false
    /// Whether the peer lists the objects that its messages name. Known also while there is no channel.
    package var listsObjects = false
    /// The part of `keptBytes` that is in the total of all sessions.
    private var reportedReplyBytes = ReportedBytes()
    @usableFromInline package var life = Life()
    /// When the driver's timer is due next and calls `expire`.
    @usableFromInline package internal(set) var wakesAt = Instant.distantFuture
    /// The timeout of the peer's calls that name none, in milliseconds. Nil for a peer that has sent no hello.
    @usableFromInline package private(set) var assumedTimeout: Int64?
    /// The most bytes that a message to the peer may have.
    package private(set) var frameLimit: Int

    /// - Parameters:
    ///   - calls: says how many requests may run at a time.
    ///   - keptReplies: how many answers may be kept that the peer has not acknowledged, and how many bytes these may have.
    ///   - frameSize: the most bytes that a message may have, as long as the peer has not said what it takes.
    package init(_ calls: consuming IncomingCalls, keptReplies: Int, keptReplyBytes: Int, frameSize: Int) {
        self.calls = calls
        (mostReplies, mostReplyBytes, frameLimit) = (keptReplies, keptReplyBytes, frameSize)
    }

    /// Sets the timeout of the peer's calls that name none, in milliseconds.
    package mutating func assume(timeout: Int64?) { assumedTimeout = timeout }

    /// Sets the most bytes that the peer takes in a message.
    package mutating func limitFrames(to size: Int) { frameLimit = size }
}

// MARK: requests

extension AnswererHalf {
    /// When the peer stops waiting for the answer to a call, as far as the peer has told.
    /// - Parameters:
    ///   - timeout: the timeout in the call, in milliseconds.
    ///   - peerRunsLibrary: whether the peer runs this library, and so has named the timeout of its calls in its hello.
    @inlinable
    package func deadline(after timeout: Int64?, peerRunsLibrary: Bool, at now: Instant) -> Instant {
        guard let left = timeout ?? (peerRunsLibrary ? assumedTimeout : nil) else { return .distantFuture }
        return now.advanced(byMilliseconds: left)
    }

    /// Whether this deadline is now the next one. If so, the driver sets its timer to it.
    @inlinable @inline(__always)
    package mutating func isNextDue(_ deadline: Instant) -> Bool {
        guard deadline < wakesAt else { return false }
        wakesAt = deadline
        return true
    }

    /// Time has passed. Returns the slots to stop; `wakesAt` is then the next deadline.
    package mutating func expire(at now: Instant) -> [Int] {
        let due = calls.expire(at: now)
        wakesAt = calls.nextDeadline ?? .distantFuture
        return due
    }

    /// Returns the slots to stop when the peer awaits no answer any more. If it has left in good order, its posts still run: it
    /// was told that they have arrived.
    package mutating func stopAll() -> [Int] { life.hasLeft ? calls.peerLeft() : calls.sessionEnded() }
}

// MARK: answers

extension AnswererHalf {
    /// How many bytes each session may always keep, however much the other sessions keep.
    @usableFromInline static var guaranteedBytes: Int { 4_096 }

    /// Keeps the answer to a call that has run, until the peer has it. Called when the answer goes out, if the session can go
    /// on.
    /// - Parameters:
    ///   - shared: the same answer if it has memory of its own. Then it is not copied.
    ///   - isFullInAll: whether all sessions together keep as much as they may. One answer may be as long as a message can be.
    /// - Returns: the limit for which the answer is not kept; nil if it is kept. The call began before the limit was reached.
    package mutating func keep(
        _ answer: UnsafeRawBufferPointer, shared: Bytes? = nil, isFullInAll: Bool
    ) -> Limit? {
        let kept = replies.byteCount
        if kept >= mostReplyBytes { return .maximumKeptReplyBytes }
        if isFullInAll, kept + answer.count >= Self.guaranteedBytes { return .maximumBytesInAll }
        if let shared {
            replies.keep(shared: shared, number: replies.last + 1)
        } else {
            replies.keep(answer, number: replies.last + 1)
        }
        return nil
    }

    /// Keeps an answer even at the limits: the one that is sent instead of an answer that is not kept.
    package mutating func keepAnyway(_ answer: UnsafeRawBufferPointer) {
        replies.keep(answer, number: replies.last + 1)
    }

    /// Keeps an answer to a request that never had a place. A peer that acknowledges nothing could cause any number of these
    /// answers.
    /// - Returns: the limit for which the peer must lose the way back to its session; nil if there is none.
    package mutating func keepAnswerWithoutPlace(_ answer: UnsafeRawBufferPointer, isFullInAll: Bool) -> Limit? {
        replies.keep(answer, number: replies.last + 1)
        let kept = replies.byteCountOfSmall
        guard kept >= 16 * Self.guaranteedBytes else { return nil }
        if kept / 2 >= mostReplyBytes { return .maximumKeptReplyBytes }
        return isFullInAll ? .maximumBytesInAll : nil
    }

    /// Whether answers are kept that the peer may not have yet.
    @inlinable package var keepsAnswers: Bool { life.isResumable && !replies.isEmpty }

    /// The limit for which no call may begin until the peer has acknowledged some answers. If the other sessions keep too much,
    /// this one may still keep a little.
    @inlinable
    package func overrunByReplies(isFullInAll: Bool) -> Limit? {
        guard keepsAnswers else { return nil }
        let kept = replies.byteCount
        if kept >= mostReplyBytes { return .maximumKeptReplyBytes }
        if isFullInAll, kept >= Self.guaranteedBytes { return .maximumBytesInAll }
        return replies.count >= mostReplies ? .maximumKeptReplies : nil
    }

    /// The peer has this many answers, and this many transfers.
    package mutating func acknowledged(replies number: Int64, transfers other: Int64 = 0) {
        replies.release(through: number)
        transfers?.messages.release(through: other)
    }

    /// How many bytes are kept for the peer.
    package var keptBytes: Int { replies.byteCount + (transfers?.messages.byteCount ?? 0) }

    /// Returns the change of the kept bytes that the total of all sessions must be told; nil if it need not be told yet.
    package mutating func takeKeptBytesChange() -> Int? { reportedReplyBytes.change(to: keptBytes) }

    /// Whether these acknowledgements of the peer are possible. Answers are not checked in a session that keeps none.
    /// - Parameter last: the highest number of a call or a post to the peer.
    package func canHave(requests: Int64, replies number: Int64, transfers other: Int64 = 0, last: Int64) -> Bool {
        requests <= last && other <= lastTransfer && (number <= replies.last || !life.isResumable)
    }
}

// MARK: transfers, which the driver bounds: each is sent at once

extension AnswererHalf {
    /// The number of the next transfer; nil if the peer knows none, or the session is over.
    package var nextTransfer: Int64? { hasTransfers && !life.isOver ? lastTransfer + 1 : nil }

    /// A whole message with that number is sent. It is kept until the peer has it, if the session can go on.
    package mutating func sent(transfer message: UnsafeRawBufferPointer) {
        lastTransfer += 1
        guard life.isResumable else { return }
        let kept = transfers ?? KeptTransfers()
        kept.messages.keep(message, number: lastTransfer)
        transfers = kept
    }
}

// MARK: how the session goes on and ends

extension AnswererHalf {
    /// The session goes on over another channel. The peer has this many answers, and this many transfers.
    /// - Returns: the answers and the transfers that the peer lacks.
    package mutating func resumed(replies number: Int64, transfers other: Int64 = 0) -> [Bytes] {
        life.resumed()
        acknowledged(replies: number, transfers: other)
        let lacking = transfers.map { $0.messages.messages.map(\.message) } ?? []
        return replies.messages.map(\.message) + lacking
    }

    /// Nothing leads back to the session any more, so it will end with its channel. Drops all that was kept.
    package mutating func endsWithChannel() {
        life.endsWithChannel()
        replies.removeAll()
        transfers = nil
    }

    /// Gives memory back that is not in use.
    package mutating func releaseRoom() {
        calls.releaseRoom()
        replies.releaseRoom()
        if transfers?.messages.isEmpty == true { transfers = nil }
    }

    /// Ends the session, and drops all that was kept.
    /// - Returns: the slots to stop; nil if the session was over before.
    package mutating func close() -> [Int]? {
        guard life.end() else { return nil }
        replies.removeAll()
        transfers = nil
        calls.held.dropBatches()
        return stopAll()
    }
}
