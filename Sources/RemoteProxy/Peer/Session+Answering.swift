// The answering side of a session, the driver of `IncomingCalls`: admits requests, has them run, keeps and sends their
// answers. On the loop.

import JSONCodec
import RPCWire
import Synchronization

extension Session {
    func accept(_ request: consuming Request, from connection: Connection, in batch: BatchReply?) {
        guard isNew(request, from: connection) else { return refuseRepeated(request, in: batch) }
        // The name lies in the request, which is still needed behind this.
        guard
            let method = methods.method(named: request.methodName, in: peer.exports) ?? method(ofHold: request.method)
        else {
            if request.isSystem { return connection.accept(system: request, in: batch) }
            return answer(request.id, with: .unknown(request.method, peer.exports), in: batch)
        }
        start(method, for: request, from: connection, in: batch)
    }

    func start(
        _ method: consuming _ExportedMethod, for request: consuming Request, from connection: Connection,
        in batch: BatchReply?
    ) {
        // A post that is refused is lost, and one of them runs at a time; a call is told. Nobody is told of a call that was
        // sent like a post, and any number of those would run.
        let isPost = request.id == nil && method.isPost
        if !isPost, let limit = overrunInAll { return answerBusy(request, limit, in: batch) }
        let now = peer.loop.now
        if let id = request.id, let (limit, refusal) = peer.runner.congestion(forSessionWith: waitingRequests, at: now)
        {
            wasBusy(limit)
            return answer(id, with: refusal, in: batch)
        }
        let deadline = self.deadline(of: request, from: connection, at: now)
        switch calls.start(request.id, isPost: isPost, bytes: request.paramsCount, deadline: deadline) {
        case .run(let slot):
            connection.noteAsked()
            requestBegan()
            wake(at: deadline)
            let id = request.id
            let (params, chunk) = request.takeParams()
            let incoming = IncomingRequest(
                session: self, slot: slot, id: id, method: method, params: params, chunk: chunk, deadline: deadline,
                batch: batch, arrived: now)
            // A post leaves no answer behind.
            if incoming.id != nil, let limit = overrunByReplies { holdBack(incoming, limit) } else { begin(incoming) }
        case .busy(let limit, let most):
            wasBusy(limit)
            answer(request.id, with: .busy(limit, most: most), in: batch)
        case .draining:
            answer(request.id, with: .draining, in: batch)
        }
    }

    private func begin(_ request: consuming IncomingRequest) {
        if waitingRequests == 0 { peer.runner.waitingSessions += 1 }
        waitingRequests += 1
        peer.runner.accept(request)
    }

    /// Whether a request has not come before. Of our own kind each has a number, higher than those before it.
    private func isNew(_ request: Request, from connection: Connection) -> Bool {
        guard connection.isOurKind, let number = request.sessionNumber else { return true }
        return receipts.request(number, isPost: request.id == nil, bytes: request.paramsCount)
    }

    /// A request that has come before is never run again. If it still runs, or if its answer is still kept, the answer
    /// comes without being asked for.
    private func refuseRepeated(_ request: Request, in batch: BatchReply?) {
        guard let id = request.id, !calls.isRunning(id) else { return }
        answer(id, with: .repeated, in: batch)
    }

    /// Without making room for holds where nobody asks for any.
    private func method(ofHold name: Bytes) -> _ExportedMethod? { name.mayNameHold ? held.method(named: name) : nil }

    /// Runs one request and sends its answer. Posts of one session run one after the other, in order.
    func run(_ request: consuming IncomingRequest, on worker: Worker) async {
        guard request.method.isPost else {
            worker.text = request.chunk.take()
            return await perform(request, on: worker)
        }
        var turn = posts.begin(request)
        while var post = turn.take() {
            worker.text = post.chunk.take()
            await perform(post, on: worker)
            guard var next = posts.next() else { return }
            if worker.isUsedUp {
                // The task is; the posts that follow are not to suffer for it.
                next.isNextPost = true
                next.arrived = peer.loop.now
                return peer.runner.accept(next)
            }
            turn = consume next
        }
    }

    private func perform(_ request: borrowing IncomingRequest, on worker: Worker) async {
        let output = worker.output
        output.removeAll()
        waitingRequests -= 1
        if waitingRequests == 0 { peer.runner.waitingSessions -= 1 }
        connection?.unstall()
        hold(worker, in: request.slot)
        defer { worker.finished() }
        do {
            if calls.isStopping(slot: request.slot) {
                throw RPCError(.cancelled, "cancelled before it began", outcome: .notExecuted)
            }
            let deadline = request.deadline < .distantFuture ? request.deadline : nil
            MessageEncoder.openResult(id: request.id ?? .null, in: output)
            worker.scope.begin(CallScope(deadline: deadline, caller: Caller(self)))
            peer.loop.lend(forLong: request.method.keepsThread.load(ordering: .relaxed))
            try await request.method.run(_IncomingCall(of: request.method, params: request.params, on: worker))
            if !isBack(from: request.method) { await follow(after: request.method) }
            MessageEncoder.closeResult(in: output)
            _ = finish(request)
        } catch let thrown {
            if !isBack(from: request.method) { await follow(after: request.method) }
            let error = request.method.explained(thrown)
            let stop = finish(request)
            write(stop.map { .stopped($0, error) } ?? error, to: request, in: output)
        }
        guard let id = request.id else { return }
        if output.count > frameLimit { writeTooLarge(request, in: output) }
        if request.batch == nil, let large = Bytes(takingLarge: output) { return send(shared: large, to: id) }
        send(output.bytes, to: id, in: request.batch)
        // What was large is for others until this worker has something large to say again.
        if output.count > LargeBlocks.least { output.removeAll() }
    }

    /// The subject has returned or thrown. False when the loop has gone on with another thread.
    private func isBack(from method: _ExportedMethod) -> Bool {
        guard peer.loop.takeBack() else { return false }
        if method.keepsThread.load(ordering: .relaxed) { method.keepsThread.store(false, ordering: .relaxed) }
        return true
    }

    private func follow(after method: _ExportedMethod) async {
        guard let absence = await peer.runner.follow() else { return }
        let time = absence.since.duration(to: MonotonicClock.now)
        // Any shorter it may have been nothing but late, and so may a thread that did not sleep.
        let wasExpected = method.keepsThread.load(ordering: .relaxed)
        let isLong = time >= .milliseconds(10) && (wasExpected || !absence.isRunning)
        method.keepsThread.store(isLong, ordering: .relaxed)
        guard isLong, !method.isToldOf.exchange(true, ordering: .relaxed) else { return }
        peer.log(
            "\(method.signature.wireName) has kept its thread for \(time.nanoseconds / 1_000_000) ms, and another went on for "
                + "it: what blocks belongs on a thread of its own (maximumBlockedThreads). This is told once")
    }

    private func write(_ error: any Error, to request: borrowing IncomingRequest, in output: JSONOutput) {
        let object = ErrorObject(error, thrownBy: request.method.service, log: peer.log)
        output.removeAll()
        MessageEncoder.writeFailure(id: request.id ?? .null, error: object, in: output)
        if request.id == nil {
            peer.log("the post \(request.method.signature.wireName) failed: \(error)")
        }
    }

    private func writeTooLarge(_ request: borrowing IncomingRequest, in output: JSONOutput) {
        let (size, limit) = (output.count, frameLimit)
        let name = request.method.signature.wireName
        overran(.maximumFrameSize)
        let text = "the reply of \(name) has \(size) bytes; a frame may have \(limit) (maximumFrameSize)"
        write(RPCError(.responseTooLarge, text, outcome: .executed), to: request, in: output)
    }

    /// When the other end stops waiting, as far as it told.
    private func deadline(of request: Request, from connection: Connection, at now: Instant) -> Instant {
        // Nobody waits for the end of a post.
        guard request.id != nil else { return .distantFuture }
        guard let left = request.timeout ?? (connection.isOurKind ? assumedTimeout : nil) else { return .distantFuture }
        return now.advanced(byMilliseconds: left)
    }
}

// MARK: answers

extension Session {
    /// Answers without running anything. Notifications are never answered.
    func answer(_ id: RPCIdentifier?, with error: ErrorObject, in batch: BatchReply?) {
        guard let id else { return }
        let output = JSONOutput()
        MessageEncoder.writeFailure(id: id, error: error, in: output)
        send(output.bytes, to: id, in: batch)
    }

    func answer(_ id: RPCIdentifier?, in batch: BatchReply?, result write: (JSONOutput) -> Void) {
        guard let id else { return }
        let output = JSONOutput()
        MessageEncoder.openResult(id: id, in: output)
        write(output)
        MessageEncoder.closeResult(in: output)
        send(output.bytes, to: id, in: batch)
    }

    /// Sends one answer, alone or as part of its batch, over the connection that serves the session now. If there is
    /// none the answer goes out over the next.
    private func send(_ answer: UnsafeRawBufferPointer, to id: RPCIdentifier, in batch: BatchReply?) {
        guard connection?.mayAnswer(answer.count) != false else { return }
        if let batch {
            // It would be kept for nobody, and after the end of the session nobody would let go of it.
            guard connection != nil else { return }
            let collected = batch.add(answer)
            batchesKeep(collected.change)
            guard let reply = collected.reply else { return }
            if collected.isTooLarge { overran(.maximumFrameSize) }
            reply.withUnsafeBytes { connection?.send($0) }
        } else {
            if isResumable { keep(answer, to: id) }
            connection?.send(answer)
        }
    }

    /// The same for a large one, which lies in memory of its own: that is what is kept, and what is sent.
    private func send(shared answer: Bytes, to id: RPCIdentifier) {
        guard connection?.mayAnswer(answer.count) != false else { return }
        if isResumable { keep(answer.memory, as: answer, to: id) }
        connection?.send(shared: answer)
    }

    /// - Parameter shared: the same, if it lies in memory of its own: then it is not copied.
    private func keep(_ answer: UnsafeRawBufferPointer, as shared: Bytes? = nil, to id: RPCIdentifier) {
        let number = replies.last + 1
        defer { noteReplies() }
        guard let limit = overrun(keeping: answer.count) else {
            if let shared { return replies.keep(shared: shared, number: number) }
            return replies.keep(answer, number: number)
        }
        overran(limit)
        // It had begun before there was too much. If the answer does not get through, at least what became of the call
        // does.
        let bytes =
            limit == .maximumKeptReplyBytesInAll ? table?.maximumKeptReplyBytes : peer.settings.maximumKeptReplyBytes
        let output = JSONOutput()
        MessageEncoder.writeFailure(id: id, error: .notKept(limit, of: bytes), in: output)
        replies.keep(output.bytes, number: number)
    }

    /// What stands against keeping one more answer, of this length. A single one may be as long as an answer can be.
    private func overrun(keeping count: Int) -> Limit? {
        let kept = replies.byteCount
        if kept >= peer.settings.maximumKeptReplyBytes { return .maximumKeptReplyBytes }
        return kept + count >= Self.little && table?.keepsTooMuch == true
            ? .maximumKeptReplyBytesInAll : nil
    }

    /// What each session may keep, however much the others do.
    private static var little: Int { 4_096 }

    /// While so many answers are kept no call begins: they go on when some have been acknowledged. Where others keep too
    /// much, this one may still keep little.
    private var overrunByReplies: Limit? {
        guard isResumable, !replies.isEmpty else { return nil }
        let kept = replies.byteCount
        if kept >= peer.settings.maximumKeptReplyBytes { return .maximumKeptReplyBytes }
        if kept >= Self.little, table?.keepsTooMuch == true { return .maximumKeptReplyBytesInAll }
        return replies.count >= peer.settings.maximumKeptReplies ? .maximumKeptReplies : nil
    }

    /// The other end has so many answers.
    func acknowledged(replies number: Int64) {
        replies.release(through: number)
        noteReplies()
        releaseHeldBack()
        // What was kept since it said so it would tell in its own time, and may never have a reason to.
        if !heldBack.isEmpty, !replies.isEmpty { connection?.notify(SystemMethod.report) }
    }

    /// The other end may think that it has time: it is asked.
    private func holdBack(_ request: consuming IncomingRequest, _ limit: Limit) {
        overran(limit)
        if heldBack.isEmpty { connection?.notify(SystemMethod.report) }
        var request = request
        request.waitsForLong()
        heldBack.append(request)
    }

    func releaseHeldBack() {
        while overrunByReplies == nil, var request = heldBack.popFirst() {
            request.arrived = peer.loop.now
            begin(request)
        }
    }
}

extension Request {
    /// The number that tells it from all others of its session: a call's is its id, a post brings its own.
    fileprivate var sessionNumber: Int64? {
        switch id {
        case nil: number
        case .integer(let id): id
        default: nil
        }
    }
}
