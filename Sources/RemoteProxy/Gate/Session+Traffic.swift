// The driver of `Traffic`: what runs for a session counts, and what is refused. On the loop.

import RPCWire

extension Session {
    /// All connections together have as many requests as they may.
    var isFullInAll: Bool { traffic?.isFull(on: peer.runner.number) ?? false }

    func answerBusy(_ request: Request, in batch: BatchReply?) {
        let limit = traffic?.maximumRequests ?? 0
        wasBusy(.maximumRequestsInAll)
        let text = "\(limit) requests of all connections are running (maximumRequestsInAll)"
        answer(request.id, with: ErrorObject(RPCError(.busy, text, outcome: .notExecuted)), in: batch)
    }

    func wasBusy(_ limit: Limit) { traffic?.wasBusy(limit, on: peer.runner.number) }

    /// The frame or the text of a message is not to be had.
    func overran(_ limit: Limit?) {
        if let limit { traffic?.overran(limit) }
    }

    func requestBegan() { traffic?.began(on: peer.runner.number) }

    func requestEnded() { traffic?.ended(on: peer.runner.number) }
}
