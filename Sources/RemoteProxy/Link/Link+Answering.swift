// The answering side of a link, the driver of `AnswererHalf`: finds the method that a request asks for, has it admitted or refused
// before any work, and sends its answer over the channel that serves the link now. On the loop.

import JSONCodec
import RPCSockets
import RPCWire
import Synchronization

extension Link {
    /// The most bytes of a name that is looked at as a text. It may be as long as a message.
    private static var longestOtherName: Int { 1_024 }

    /// When the next request may begin, before anything is known of it. Asked before each.
    @inline(__always)
    var nextRequest: Admission.Turn {
        admission.turn(of: half, backlog: runner.backlog)
    }

    func accept(_ request: consuming Request, from channel: MessageChannel, in batch: BatchReply?) {
        guard isNew(request, from: channel) else { return refuseRepeated(request, in: batch) }
        // The name lies in the request, which is still needed behind this.
        guard let method = methods.method(named: request.methodName, in: context.exports) else {
            return acceptOther(request, from: channel, in: batch)
        }
        start(method, for: request, from: channel, in: batch)
    }

    /// Answers a request that cannot be read. It counts like any other: the other end need not send it again.
    func refuse(_ request: Request, with error: ErrorObject, from channel: MessageChannel, in batch: BatchReply?) {
        overran(error.limit)
        guard isNew(request, from: channel) else { return refuseRepeated(request, in: batch) }
        answer(request.id, with: error, in: batch)
    }

    /// One that names no export: it is for what is held, or for the protocol itself.
    private func acceptOther(_ request: Request, from channel: MessageChannel, in batch: BatchReply?) {
        let name = request.method
        if name.count <= Self.longestOtherName {
            // Without making room for holds where none are asked for.
            if name.mayNameHold, let method = held.method(named: name) {
                return start(method, for: request, from: channel, in: batch)
            }
            if request.isSystem { return accept(system: request, in: batch, over: channel) }
        }
        answer(request.id, with: .unknown(name, exports), in: batch)
    }

    func start(
        _ method: consuming _ExportedMethod, for request: consuming Request, from channel: MessageChannel,
        in batch: BatchReply?
    ) {
        let id = request.id
        let now = loop.now
        // No caller waits for the end of a post.
        let deadline =
            id == nil ? .distantFuture : half.deadline(after: request.timeout, isOurKind: channel.isOurKind, at: now)
        let isPost = id == nil && method.isPost
        switch admission.judge(
            id, isPost: isPost, bytes: request.paramsCount, deadline: deadline, in: &half, runner: runner, at: now)
        {
        case .begins(let slot, let limit):
            channel.noteAsked()
            if half.isNextDue(deadline) { setDeadlineTimer() }
            let incoming = IncomingRequest(
                request, id: id, method: method, link: self, slot: slot, deadline: deadline, batch: batch,
                arrived: now)
            if let limit { holdBack(incoming, limit) } else { begin(incoming) }
        case .busy(let limit): answer(id, with: .busy(limit, of: settings.limits), in: batch)
        case .draining: answer(id, with: .draining, in: batch)
        }
    }

    @inline(__always)
    private func begin(_ request: consuming IncomingRequest) {
        if admission.waiting == 0 { runner.waitingLinks += 1 }
        admission.waiting += 1
        runner.accept(request)
    }

    /// Whether a request has not come before. Of our own kind each has a number, higher than those before it.
    private func isNew(_ request: Request, from channel: MessageChannel) -> Bool {
        guard channel.isOurKind, let number = request.sessionNumber else { return true }
        return half.receipts.request(number, isPost: request.id == nil, bytes: request.paramsCount)
    }

    /// A request that has come before is never run again. If it still runs, or if its answer is still kept, the answer
    /// comes without being asked for.
    private func refuseRepeated(_ request: Request, in batch: BatchReply?) {
        // In a batch the others would wait for it.
        guard let id = request.id, batch != nil || !half.calls.isRunning(id) else { return }
        answer(id, with: .repeated, in: batch)
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

// MARK: requests that run; called by their worker

extension Link {
    /// The turn of a request has come. False when it has been cancelled while it waited.
    @inline(__always)
    func prepare(_ request: borrowing IncomingRequest, on worker: Worker) -> Bool {
        worker.output.removeAll()
        admission.waiting -= 1
        if admission.waiting == 0 { runner.waitingLinks -= 1 }
        channel?.unstall()
        guard half.calls.begin(slot: request.slot, by: .passUnretained(worker)) else { return false }
        if let id = request.id { MessageWriter.openResult(id: id, in: worker.output) }
        runner.lend()
        return true
    }

    /// The subject of a request has returned, or thrown: it leaves the table, and its answer goes out.
    @inline(__always)
    func finish(_ request: borrowing IncomingRequest, _ failure: (any Error)?, on worker: Worker) {
        withChannel { finish(request, failure, on: worker, over: $0) }
    }

    /// The channel that serves the link now. Not counted: an answer does not lose it, since a stream ends in a turn of
    /// its own, also when the answer closes the channel.
    @inline(__always)
    private func withChannel(_ body: (MessageChannel?) -> Void) {
        guard let channel = channel.map({ Unmanaged.passUnretained($0) }) else { return body(nil) }
        channel._withUnsafeGuaranteedRef { body($0) }
    }

    @inline(__always)
    private func finish(
        _ request: borrowing IncomingRequest, _ failure: (any Error)?, on worker: Worker, over channel: MessageChannel?
    ) {
        let output = worker.output
        let stop = half.calls.finish(slot: request.slot)
        admission.ended(&half)
        channel?.answered()
        if let failure {
            let (error, outcome) = request.method.explained(failure)
            write(stop.map { .stopped($0, outcome: outcome) } ?? error, outcome, to: request, in: output)
        } else {
            MessageWriter.closeResult(in: output)
        }
        guard let id = request.id else { return }
        if output.count > half.frameLimit { writeTooLarge(request, in: output) }
        if output.count > LargeBlocks.least {
            sendLarge(output, to: id, in: request.batch, over: channel)
        } else {
            // Behind a call that others follow there is something left to do on the loop; behind a post there need not be.
            let isLast = !request.method.isPost
            send(output.bytes, to: id, in: request.batch, over: channel, isLast: isLast)
        }
    }

    private func write(
        _ error: any Error, _ outcome: RPCError.Outcome, to request: borrowing IncomingRequest, in output: JSONOutput
    ) {
        let method = request.method
        guard let id = request.id else {
            return requester.log("the post \(method.signature.wireName) failed: \(error)")
        }
        let object = ErrorObject(
            error, outcome, thrownBy: method.signature.wireName, of: method.service, log: requester.log)
        output.removeAll()
        MessageWriter.writeFailure(id: id, error: object, in: output)
    }

    private func writeTooLarge(_ request: borrowing IncomingRequest, in output: JSONOutput) {
        let (size, limit) = (output.count, half.frameLimit)
        let name = request.method.signature.wireName
        overran(.maximumFrameSize)
        let text = "the reply of \(name) has \(size) bytes; a frame may have \(limit) (maximumFrameSize)"
        write(RPCError(.responseTooLarge, text, outcome: .executed), .executed, to: request, in: output)
    }

    /// The method of a request has kept its thread, and another went on for it. The log is told once for each method.
    /// - Parameter since: when the other thread took over.
    func tell(thatItKeptItsThread method: _ExportedMethod, since: Instant) {
        let time = since.duration(to: MonotonicClock.now)
        // A thread that was away for less may only have waited for a processor.
        guard time >= .milliseconds(10), !method.isToldOf.exchange(true, ordering: .relaxed) else { return }
        requester.log(
            "\(method.signature.wireName) has kept its thread for \(time.nanoseconds / 1_000_000) ms, and another went on for "
                + "it: what blocks belongs on a thread of its own (maximumBlockedThreads). This is told once")
    }
}

// MARK: requests that stop: a stopped request keeps its place until its subject has returned

extension Link {
    /// No answer is awaited any more.
    func stopRequests() { stopWorkers(in: half.stopAll()) }

    /// Whether the call that a cancellation is about has been admitted.
    func runs(canceledBy request: Request) -> Bool {
        request.params.flatMap(MessageReader.identifier).map { half.calls.isRunning($0) } ?? false
    }

    func cancelRequest(_ id: RPCIdentifier) {
        guard let slot = half.calls.cancel(id) else { return channel?.cancelledNothing() ?? () }
        stopWorkers(in: [slot])
    }

    @inline(never)
    private func setDeadlineTimer() {
        deadlineTimer?.cancel()
        // Strong, and cancelled with the link: a weak reference would make every other one to it slow.
        deadlineTimer = loop.schedule(at: half.wakesAt) { [self] in
            stopWorkers(in: half.expire(at: loop.now))
            if half.wakesAt < .distantFuture { setDeadlineTimer() }
        }
    }

    /// Cancelling runs the subjects' cancellation handlers, in here.
    func stopWorkers(in slots: [Int]) {
        for slot in slots {
            let worker = half.calls.runner(of: slot)?.takeUnretainedValue() as? Worker
            worker?.task?.cancel()
        }
    }
}

// MARK: answers: alone or with their batch, and kept until the other end has acknowledged them

extension Link {
    /// Answers without running anything. Notifications are never answered; that one was refused is told to the log.
    func answer(_ id: RPCIdentifier?, with error: ErrorObject, in batch: BatchReply?) {
        guard let id else { return requester.log("refused a post from \(address): \(error.message)") }
        let output = JSONOutput()
        MessageWriter.writeFailure(id: id, error: error, in: output)
        send(output.bytes, to: id, in: batch, over: channel, hasBegun: false)
    }

    func answer(_ id: RPCIdentifier?, in batch: BatchReply?, result write: (JSONOutput) -> Void) {
        guard let id else { return }
        let output = JSONOutput()
        MessageWriter.openResult(id: id, in: output)
        write(output)
        MessageWriter.closeResult(in: output)
        send(output.bytes, to: id, in: batch, over: channel, hasBegun: false)
    }

    /// Sends one answer, alone or as part of its batch, over the channel that serves the link now. If there is
    /// none the answer goes out over the next.
    /// - Parameters:
    ///   - isLast: the calling code does nothing more in this turn.
    ///   - hasBegun: whether it is what became of a call that has begun.
    private func send(
        _ answer: UnsafeRawBufferPointer, to id: RPCIdentifier, in batch: BatchReply?, over channel: MessageChannel?,
        isLast: Bool = false, hasBegun: Bool = true
    ) {
        guard channel?.mayAnswer(answer.count) != false else { return }
        if let batch {
            // After the end of the session nothing would let go of it.
            guard !half.life.isOver else { return }
            let collected = batch.add(answer)
            half.calls.held.batchesKeep(collected.change)
            admission.tellBytes(of: &half)
            guard let reply = collected.reply else { return }
            if collected.isTooLarge { overran(.maximumFrameSize) }
            reply.withUnsafeBytes { reply in
                // Then it is a single answer and no batch, and counts as one at the other end.
                if collected.isTooLarge, half.life.isResumable { keep(reply, to: .null) }
                channel?.send(reply, isLast: isLast)
            }
        } else {
            if half.life.isResumable { if hasBegun { keep(answer, to: id) } else { keepRefusal(answer) } }
            channel?.send(answer, isLast: isLast)
        }
    }

    /// The same for a large one. If it fills the memory that it was written in, that is what is kept, and what is sent.
    private func sendLarge(
        _ output: JSONOutput, to id: RPCIdentifier, in batch: BatchReply?, over channel: MessageChannel?
    ) {
        guard batch == nil, let answer = Bytes(takingLarge: output) else {
            send(output.bytes, to: id, in: batch, over: channel)
            // What was large is for others until this worker has something large to say again.
            return output.removeAll()
        }
        guard channel?.mayAnswer(answer.count) != false else { return }
        if half.life.isResumable { keep(answer.memory, as: answer, to: id) }
        guard let channel else { return }
        channel.append(shared: answer)
        channel.stream.flush()
    }

    /// - Parameter shared: the same, if it lies in memory of its own: then it is not copied.
    @inline(__always)
    private func keep(_ answer: UnsafeRawBufferPointer, as shared: Bytes? = nil, to id: RPCIdentifier) {
        if let limit = half.keep(answer, shared: shared, isFullInAll: admission.keepsTooMuchInAll) {
            keepOutcome(of: id, because: limit)
        }
        noteReplies()
    }

    /// If the answer does not get through, at least what became of the call does.
    @inline(never)
    private func keepOutcome(of id: RPCIdentifier, because limit: Limit) {
        overran(limit)
        let bytes =
            limit == .maximumKeptReplyBytesInAll
            ? context.sessions?.maximumKeptReplyBytes : settings.limits.maximumKeptReplyBytes
        let output = JSONOutput()
        MessageWriter.writeFailure(id: id, error: .notKept(limit, of: bytes), in: output)
        half.keepAnyway(output.bytes)
    }

    @inline(never)
    private func keepRefusal(_ answer: UnsafeRawBufferPointer) {
        let limit = half.keepRefusal(answer, isFullInAll: admission.keepsTooMuchInAll)
        noteReplies()
        guard let limit else { return }
        overran(limit)
        let what = "\(half.replies.count) answers were not acknowledged (\(limit))"
        requester.log("the session of \(address) ends with its connection: \(what)")
        endWithChannel()
    }

    /// The totals are told how much is kept here.
    @inline(__always)
    func noteReplies() {
        if let change = half.takeNewsOfReplies() { context.sessions?.keeps(change) }
    }

    /// The other end has so many answers.
    func acknowledged(replies number: Int64) {
        half.acknowledged(replies: number)
        noteReplies()
        releaseHeldBack()
        // What was kept since it said so it would tell in its own time, and may never have a reason to.
        if !heldBack.isEmpty, !half.replies.isEmpty { channel?.notify(SystemMethod.report) }
    }

    /// A request waits until answers have been acknowledged. The other end may think that it has time: it is asked.
    private func holdBack(_ request: consuming IncomingRequest, _ limit: Limit) {
        overran(limit)
        if heldBack.isEmpty { channel?.notify(SystemMethod.report) }
        var request = request
        request.waitsForLong()
        heldBack.append(request)
    }

    func releaseHeldBack() {
        while admission.overrunByReplies(of: half) == nil, var request = heldBack.popFirst() {
            request.arrived = loop.now
            begin(request)
        }
    }
}
