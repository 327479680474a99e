// The driver of `Traffic`: what runs for a session counts, and what is refused. On the loop.

import RPCWire

extension Session {
    private var traffic: Traffic? { peer.settings.traffic }

    /// The limit for which all connections together have as many requests as they may. Asked for every message.
    @inline(__always)
    var overrunInAll: Limit? {
        guard let tally, !tally._withUnsafeGuaranteedRef({ $0.isBelowItsShare }) else { return nil }
        return overrunBeyondShare
    }

    @inline(never)
    private var overrunBeyondShare: Limit? { tally.flatMap { traffic?.overrun(on: $0.takeUnretainedValue()) } }

    /// Whether a request may begin although all connections together have as many as they may: a small one of a session that has
    /// none, or a few sessions could keep all others out.
    func isFirstAndSmall(_ request: Request) -> Bool { calls.count == 0 && request.paramsCount < 4_096 }

    func answerBusy(_ request: Request, _ limit: Limit, in batch: BatchReply?) {
        wasBusy(limit)
        answer(request.id, with: .busy(limit, of: peer.settings.limits), in: batch)
    }

    func wasBusy(_ limit: Limit) { tally?.takeUnretainedValue().wasBusy(limit) }

    /// The frame or the text of a message is not to be had.
    func overran(_ limit: Limit?) {
        if let limit { traffic?.overran(limit) }
    }

    /// Requests that wait with their connection take so many bytes more, or less.
    func tellWaiting(_ change: Int) { tally?.takeUnretainedValue().waits(change) }

    /// Whether the requests that wait with all connections together take as much as they may.
    var waitsTooMuchInAll: Bool { traffic.map { $0.waitingBytes >= $0.maximumBytes } ?? false }

    @inline(__always)
    func requestBegan() {
        tally?._withUnsafeGuaranteedRef { $0.began() }
        if calls.held.hasNews { tellBytes() }
    }

    @inline(__always)
    func requestEnded() {
        tally?._withUnsafeGuaranteedRef { $0.ended() }
        if calls.held.hasNews { tellBytes() }
    }

    /// Answers of unfinished batches keep something more, or less.
    func batchesKeep(_ change: Int) {
        calls.held.batchesKeep(change)
        if calls.held.hasNews { tellBytes() }
    }

    /// No batch will be complete any more.
    func dropBatches() {
        calls.held.dropBatches()
        if calls.held.hasNews { tellBytes() }
    }

    @inline(never)
    private func tellBytes() { tally?.takeUnretainedValue().holds(calls.held.tell()) }
}
