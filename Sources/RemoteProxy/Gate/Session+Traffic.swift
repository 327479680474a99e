// The driver of `Traffic`: what runs for a session counts, and what is refused. On the loop.

import RPCWire

extension Session {
    /// The limit for which all connections together have as many requests as they may.
    var overrunInAll: Limit? { traffic?.overrun(on: peer.runner.number) }

    func answerBusy(_ request: Request, _ limit: Limit, in batch: BatchReply?) {
        wasBusy(limit)
        let most = limit == .maximumBytesInAll ? traffic?.maximumBytes : traffic?.maximumRequests
        answer(request.id, with: .busy(limit, most: most ?? 0), in: batch)
    }

    func wasBusy(_ limit: Limit) { traffic?.wasBusy(limit, on: peer.runner.number) }

    /// The frame or the text of a message is not to be had.
    func overran(_ limit: Limit?) {
        if let limit { traffic?.overran(limit) }
    }

    func requestBegan() {
        traffic?.began(on: peer.runner.number)
        if hasBytesToTell { noteBytes() }
    }

    func requestEnded() {
        traffic?.ended(on: peer.runner.number)
        if hasBytesToTell { noteBytes() }
    }

    /// Answers of unfinished batches keep something more, or less.
    func batchesKeep(_ change: Int) {
        batchBytes += change
        calls.keep(change)
        if hasBytesToTell { noteBytes() }
    }

    /// All connections together are told how much the requests hold, not of every one but of every few kilobytes.
    @inline(__always)
    private var hasBytesToTell: Bool {
        (calls.byteCount &- notedBytes).magnitude >= 4_096 || notedBytes != 0 && calls.byteCount == 0
    }

    @inline(never)
    private func noteBytes() {
        traffic?.holds(calls.byteCount &- notedBytes, on: peer.runner.number)
        notedBytes = calls.byteCount
    }
}
