// The answering side of a link and the driver of `AnswererHalf`. Finds the method that a request names, and has the request
// admitted or refused before any work. Sends its answer over the channel that serves the link by then. On the loop.

import JSONCodec
import RPCSockets
import RPCWire
import Synchronization

extension Link {
    /// When the next request may begin. Asked before each request, while nothing is known of it.
    @inline(__always)
    var nextRequest: Admission.Turn {
        admission.turn(of: half, backlog: runner.backlog, postLines: posts.lineCount) { requester.pendingCalls > 0 }
    }

    /// Finds the method that a request names and starts it, unless the request has come before.
    func accept(_ request: Request, in batch: BatchReply?) {
        guard isNew(request) else { return refuseRepeated(request, in: batch) }
        // The name is a view of the request's memory, and the request is still used below.
        guard let (object, method) = methods.method(named: request.methodName, in: context.exports) else {
            return acceptOther(request, in: batch)
        }
        start(method, of: object, for: request, in: batch)
    }

    /// The same for a request that lists objects.
    func accept(_ request: Request, naming handles: [Int64], in batch: BatchReply?) {
        guard isNew(request) else { return refuseRepeated(request, in: batch) }
        // Kept until the request has been dealt with; if it is refused, they are given back.
        let named = objects.arrived(handles)
        guard let (object, method) = methods.method(named: request.methodName, in: context.exports) else {
            return acceptOther(request, naming: named, in: batch)
        }
        start(method, of: object, for: request, naming: named, in: batch)
    }

    /// Answers a request that cannot be read. It counts as received, so that the other end does not send it again.
    func refuse(_ request: Request, with error: ErrorObject, in batch: BatchReply?) {
        overran(error.limit)
        guard isNew(request) else { return refuseRepeated(request, in: batch) }
        answer(request.id, with: error, in: batch)
    }

    /// Accepts a request that names no export: it is for an object by reference, or for the protocol itself.
    private func acceptOther(_ request: Request, naming named: NamedObjects? = nil, in batch: BatchReply?) {
        let wireName = WireName(request.methodName)
        if let handle = wireName.handle { return accept(request, to: handle, wireName, naming: named, in: batch) }
        if let (handle, method) = wireName.invoked {
            return accept(request, to: handle, method, naming: named, in: batch)
        }
        let name = request.method
        if peerListsObjects, request.id == nil, request.shortName == SystemMethod.release, let params = request.params,
            takeBack(params)
        {
            return
        }
        if name.count <= String.longestCompared, request.isSystem { return accept(system: request, in: batch) }
        answer(request.id, with: .unknown(name, exports, isOwnEnd: peerRunsLibrary), in: batch)
    }

    /// Accepts a request for an object of this end that the other end was given.
    private func accept(
        _ request: Request, to handle: Int64, _ name: WireName, naming named: NamedObjects?, in batch: BatchReply?
    ) {
        // A name as StreamJsonRpc makes it has no service.
        guard let object = name.service.isEmpty ? objects.object(handle) : object(name) else {
            let service = String(decoding: name.service, as: UTF8.self)
            return answer(request.id, with: .noSuchObject(service, handle), in: batch)
        }
        let method =
            name.service.isEmpty
            ? object.index.method(named: String(decoding: name.method.first, as: UTF8.self))
            : object.index.method(named: name.method)
        guard let method else {
            return answer(request.id, with: .unknown(request.method, exports, isOwnEnd: peerRunsLibrary), in: batch)
        }
        methods.add(request.methodName, object, method)
        start(method, of: object, for: request, naming: named, in: batch)
    }

    /// Handles `rpc.release`: the other end gives objects back. False for other parameters than `[[handle, count], …]`.
    private func takeBack(_ params: Bytes) -> Bool {
        guard let list = try? [[Int64]](json: params) else { return false }
        var isExact = true
        let released = list.compactMap { pair -> (handle: Int64, count: Int)? in
            guard pair.count == 2, pair[1] > 0, let count = Int(exactly: pair[1]) else {
                isExact = false
                return nil
            }
            return (pair[0], count)
        }
        methods.forgetObjects()
        if !objects.released(released) || !isExact { countStrayRelease() }
        return true
    }

    /// Judges a request. Then begins it, holds it back, or refuses it.
    func start(
        _ method: consuming ExportedMethod, of object: consuming ExportedObject, for request: Request,
        naming named: NamedObjects? = nil, in batch: BatchReply?
    ) {
        let id = request.id
        var metadata: CallMetadata?
        if request.metadataCount > 0, let text = request.metadata {
            metadata = read(text, of: id, in: batch)
            if metadata == nil { return }
        }
        let now = loop.now
        // No caller waits for the end of a post.
        let deadline =
            id == nil
            ? .distantFuture : half.deadline(after: request.timeout, peerRunsLibrary: peerRunsLibrary, at: now)
        let isPost = id == nil && method.isPost
        switch admission.judge(
            id, isPost: isPost, bytes: request.paramsCount + request.metadataCount, deadline: deadline, in: &half,
            runner: runner, at: now)
        {
        case .begins(let slot, let limit):
            _ = connection?.channel.admits(.asked)
            if half.isNextDue(deadline) { setDeadlineTimer() }
            let incoming = IncomingRequest(
                request, id: id, object: object, method: method, link: self, slot: slot, deadline: deadline,
                metadata: metadata, served: method.isPost ? nil : served(request), batch: batch, objects: named,
                arrived: now)
            if let limit { holdBack(incoming, limit) } else { begin(incoming) }
        case .busy(let limit): answer(id, with: .busy(limit, of: settings.limits), in: batch)
        case .draining: answer(id, with: .draining, in: batch)
        }
    }

    /// The request as one that was made inside a call of this end; nil for nearly all requests.
    @inline(__always)
    private func served(_ request: Request) -> ServedRequest? {
        guard case .inside(let inside) = request.mark, let connection, connection.version > 0 else { return nil }
        return served(request, inside: inside, over: connection.number)
    }

    @inline(never)
    private func served(_ request: Request, inside number: Int64, over channel: Int) -> ServedRequest? {
        guard case .integer(let own) = request.id else { return nil }
        return ServedRequest(over: self, number: own, inside: requester.waitingCall(number, over: channel))
    }

    /// Reads the metadata of a request. If it cannot, it refuses the request and returns nil.
    @inline(never)
    private func read(_ metadata: Bytes, of id: RPCIdentifier?, in batch: BatchReply?) -> CallMetadata? {
        let limits = settings.limits
        do throws(MetadataFault) {
            return try CallMetadata(
                reading: metadata, mostEntries: limits.maximumMetadataEntries, mostBytes: limits.maximumMetadataBytes)
        } catch {
            if case .overrun(let limit) = error { overran(limit) }
            let text = "this is not a request: \(limits.explanation(of: error))"
            answer(id, with: ErrorObject(code: ErrorCode.invalidRequest, message: text), in: batch)
            return nil
        }
    }

    @inline(__always)
    private func begin(_ request: consuming IncomingRequest) {
        joinLine()
        runner.accept(request)
    }

    /// Counts a request that waits for a worker.
    @inline(__always)
    private func joinLine() {
        admission.runs(1)
        if admission.waiting == 0 { runner.waitingLinks += 1 }
        admission.waiting += 1
    }

    @inline(__always)
    private func leaveLine() {
        admission.waiting -= 1
        if admission.waiting == 0 { runner.waitingLinks -= 1 }
    }

    /// Gives the request back if it may begin now. Returns nil if it waits for posts; until these have run, it is not in the line
    /// for a worker, and has no place among the requests that run.
    func beginInTurn(_ request: consuming IncomingRequest) -> IncomingRequest? {
        let bytes = request.params.count
        let first = posts.begin(request)
        if first == nil {
            leaveLine()
            admission.runs(-1)
            countBehindPosts(bytes)
        }
        return first
    }

    /// The next request that has waited for posts to this object.
    func nextInTurn(after object: ExportedObject) -> IncomingRequest? {
        guard let next = posts.next(after: object) else { return nil }
        countBehindPosts(-next.params.count)
        joinLine()
        return next
    }

    /// - Parameter bytes: how many bytes wait more than before, or fewer.
    private func countBehindPosts(_ bytes: Int) {
        admission.behindPosts = posts.count
        requester.account.waits(bytes)
    }

    /// Drops the requests that wait for a post, since they will never run. Returns how many.
    func dropBehindPosts() -> Int {
        let count = posts.count
        while let request = posts.dropFirst() {
            countBehindPosts(-request.params.count)
            _ = half.calls.finish(slot: request.slot)
        }
        admission.tellBytes(of: &half)
        return count
    }

    /// Whether a request has not come before. Each request of a peer that runs this library has a number, higher than those
    /// before it.
    private func isNew(_ request: Request) -> Bool {
        guard peerRunsLibrary, let number = request.sessionNumber else { return true }
        return half.receipts.request(
            number, isPost: request.id == nil, bytes: request.paramsCount + request.metadataCount)
    }

    /// Whether a request has a number of the session that has not come.
    func isNumberedNext(_ request: Request) -> Bool {
        peerRunsLibrary && request.sessionNumber ?? 0 > half.receipts.requests
    }

    /// Answers a request that has come before, without running it again. If it still runs, or its answer is still kept, that
    /// answer is sent anyway.
    @inline(never)
    private func refuseRepeated(_ request: Request, in batch: BatchReply?) {
        // A member of a batch is always answered: the rest of its batch would wait for it.
        guard let id = request.id, batch != nil || !half.calls.isRunning(id) else { return }
        answer(id, with: .repeated, in: batch)
    }
}

extension Request {
    /// The number of this request in its session: the id of a call, or the number that a post brings along.
    fileprivate var sessionNumber: Int64? {
        switch (id, mark) {
        case (nil, .post(let number)): number
        case (.integer(let id), _): id
        default: nil
        }
    }
}

// MARK: running requests; called by their worker

extension Link {
    /// Called when the turn of a request has come. False if it was cancelled while it waited: then it must not run.
    @inline(__always)
    func prepare(_ request: borrowing IncomingRequest, on worker: Worker) -> Bool {
        checkLoop()
        worker.output.removeAll()
        leaveLine()
        retryWaitingRequests()
        guard half.calls.begin(slot: request.slot, by: .passUnretained(worker)) else { return false }
        if let id = request.id { MessageWriter.openResult(id: id, in: worker.output) }
        runner.lend()
        return true
    }

    /// Called when the subject of a request has returned or thrown. Takes the request out of the table and sends its answer.
    /// Once in memory, not in each of its callers: what runs for every call is to fit into a processor's first cache.
    @inline(never)
    func finish(_ request: borrowing IncomingRequest, _ failure: (any Error)?, on worker: Worker) {
        checkLoop()
        let output = worker.output
        let stop = half.calls.finish(slot: request.slot)
        if let served = request.served { served.end() }
        admission.ended(&half)
        if half.life.isOver, half.calls.count == 0 { allRequestsHaveRun() }
        answered()
        let named = failure == nil ? worker.named : nil
        // Last: objects that go away with a failure are a program's.
        defer { if worker.named != nil { worker.named = nil } }
        if let failure { write(failure, stop, to: request, in: output) } else { close(output, naming: named) }
        guard let id = request.id else { return }
        if output.count > half.frameLimit {
            writeTooLarge(request, in: output)
        } else if let named {
            objects.gives(named)
        }
        var isKept = true
        if output.count > LargeBlocks.smallestKept {
            isKept = sendLarge(output, to: id, in: request.batch)
        } else {
            // After a call this may be the last message of the turn: requests that wait run in later turns. Posts that wait
            // behind a post run in this one.
            let isLast = !request.method.isPost
            isKept = send(output.bytes, to: id, in: request.batch, isLast: isLast)
        }
        if !isKept, let named { objects.mayLack(named, inReply: half.replies.last) }
    }

    /// Ends a result. If it names objects, it lists them.
    @inline(__always)
    private func close(_ output: JSONOutput, naming named: NamedObjects?) {
        if let named, peerListsObjects { MessageWriter.write(objects: named.listed, in: output) }
        MessageWriter.closeResult(in: output)
    }

    @inline(never)
    private func write(
        _ failure: any Error, _ stop: IncomingCalls.Stop?, to request: borrowing IncomingRequest, in output: JSONOutput
    ) {
        let (error, outcome) = request.method.explained(failure)
        write(stop.map { .stopped($0, outcome: outcome) } ?? error, outcome, to: request, in: output)
    }

    private func write(
        _ error: any Error, _ outcome: RPCError.Outcome, to request: borrowing IncomingRequest, in output: JSONOutput
    ) {
        let method = request.method
        guard let id = request.id else {
            return log(
                LogRecord(
                    .error, "the post \(method.signature.wireName) failed: \(error)", method: method.signature.wireName)
            )
        }
        let object = method.service.errorObject(
            from: error, outcome, thrownBy: method.signature.wireName, log: log)
        output.removeAll()
        MessageWriter.writeFailure(id: id, error: object, in: output)
    }

    @inline(never)
    private func writeTooLarge(_ request: borrowing IncomingRequest, in output: JSONOutput) {
        let (size, limit) = (output.count, half.frameLimit)
        let name = request.method.signature.wireName
        overran(.maximumFrameSize)
        let text = "the reply of \(name) has \(size) bytes; a frame may have \(limit) (maximumFrameSize)"
        write(RPCError(.responseTooLarge, text, outcome: .executed), .executed, to: request, in: output)
    }

    /// Logs that a method has blocked its thread, so that another thread went on for it. Logged once for each method.
    /// - Parameter since: when the other thread took over.
    func logBlockedThread(by method: ExportedMethod, since: Instant) {
        let time = since.duration(to: MonotonicClock.now)
        // A thread that was away for less time may only have waited for a processor.
        guard time >= .milliseconds(10), exports.isNew(blocking: method) else { return }
        let text =
            "\(method.signature.wireName) blocked its thread for \(time.nanoseconds / 1_000_000) ms, so another thread went on "
            + "for it: run what blocks on a thread of its own (maximumBlockedThreads). Logged once for each method"
        log(LogRecord(.warning, text, method: method.signature.wireName))
    }
}

// MARK: stopping requests: a stopped request keeps its place until its subject has returned

extension Link {
    /// Stops the requests whose answers the other end does not await any more.
    func stopRequests() { stopWorkers(in: half.stopAll()) }

    /// Whether the call that this cancellation names has been admitted.
    func runs(canceledBy request: Request) -> Bool {
        request.params.flatMap(MessageReader.identifier).map { half.calls.isRunning($0) } ?? false
    }

    func cancelRequest(_ id: RPCIdentifier) {
        guard let slot = half.calls.cancel(id) else { return _ = channel?.admits(.cancelledNothing) }
        stopWorkers(in: [slot])
    }

    @inline(never)
    private func setDeadlineTimer() {
        deadlineTimer?.cancel()
        // A strong reference, cancelled with the link: weak references to the link would make all others slow.
        deadlineTimer = loop.schedule(at: half.wakesAt) { [self] in
            stopWorkers(in: half.expire(at: loop.now))
            if half.wakesAt < .distantFuture { setDeadlineTimer() }
        }
    }

    /// Cancels the tasks in these slots. Their subjects' cancellation handlers run inside this call.
    func stopWorkers(in slots: [Int]) {
        checkLoop()
        for slot in slots {
            let worker = half.calls.runner(of: slot)?.takeUnretainedValue() as? Worker
            worker?.task?.cancel()
        }
    }
}

// MARK: sending answers: alone or with their batch; each is kept until the other end has acknowledged them

extension Link {
    /// Answers a request with an error, without running it. A notification is never answered, so its refusal goes to the log.
    @inline(never)
    func answer(_ id: RPCIdentifier?, with error: ErrorObject, in batch: BatchReply?) {
        guard let id else { return log(LogRecord(.warning, "refused a post from \(address): \(error.message)")) }
        let output = JSONOutput()
        MessageWriter.writeFailure(id: id, error: error, in: output)
        send(output.bytes, to: id, in: batch, hasBegun: false)
    }

    func answer(_ id: RPCIdentifier?, with error: RPCError, in batch: BatchReply?) {
        answer(id, with: error.errorObject, in: batch)
    }

    func answer(_ id: RPCIdentifier?, in batch: BatchReply?, result write: (JSONOutput) -> Void) {
        guard let id else { return }
        let output = JSONOutput()
        MessageWriter.openResult(id: id, in: output)
        write(output)
        MessageWriter.closeResult(in: output)
        send(output.bytes, to: id, in: batch, hasBegun: false)
    }

    /// Sends one answer, alone or as part of its batch, over the channel that serves the link now. Without a channel, a session
    /// that goes on sends it over the next one.
    /// - Parameters:
    ///   - isLast: whether the calling code does nothing more in this turn of the loop.
    ///   - hasBegun: whether the answer is the outcome of a request that has begun.
    /// - Returns: false if an error is kept in place of the answer.
    @discardableResult
    private func send(
        _ answer: UnsafeRawBufferPointer, to id: RPCIdentifier, in batch: BatchReply?, isLast: Bool = false,
        hasBegun: Bool = true
    ) -> Bool {
        let channel = channel
        guard channel?.admits(.isAnswered(bytes: answer.count, hasRun: hasBegun)) != false else { return true }
        if let batch {
            add(answer, to: batch, over: channel, isLast: isLast)
            return true
        }
        var isKept = true
        if half.life.isResumable {
            if hasBegun { isKept = keep(answer, to: id) } else { keepAnswerWithoutPlace(answer) }
        }
        send(.copied(answer), over: channel, isLast: isLast)
        return isKept
    }

    @inline(__always)
    private func send(_ answer: OutgoingMessage, over channel: (any MessageChannel)?, isLast: Bool) {
        guard let channel else { return }
        channel.append(answer)
        channel.flush(isLast ? .last : .more)
        countAnswer(over: channel)
    }

    /// Collects an answer, and sends the batch when it is complete.
    @inline(never)
    private func add(
        _ answer: UnsafeRawBufferPointer, to batch: BatchReply, over channel: (any MessageChannel)?, isLast: Bool
    ) {
        // After the end of the session no code would free what the batch keeps.
        guard !half.life.isOver else { return }
        let collected = batch.add(answer)
        half.calls.held.batchesKeep(collected.change)
        admission.tellBytes(of: &half)
        guard let reply = collected.reply else { return }
        if collected.isTooLarge { overran(.maximumFrameSize) }
        reply.withUnsafeBytes { reply in
            // A single error stands for the whole batch, and the other end counts it as one answer.
            if collected.isTooLarge, half.life.isResumable { keep(reply, to: .null) }
            send(.copied(reply), over: channel, isLast: isLast)
        }
    }

    /// Sends a large answer. If the answer fills the memory that it was written in, that memory is kept and sent without a
    /// copy.
    @inline(never)
    private func sendLarge(_ output: JSONOutput, to id: RPCIdentifier, in batch: BatchReply?) -> Bool {
        guard batch == nil, let answer = Bytes(takingLarge: output) else {
            // Lets go of the large memory until this worker has a large answer again.
            defer { output.removeAll() }
            return send(output.bytes, to: id, in: batch)
        }
        let channel = channel
        guard channel?.admits(.isAnswered(bytes: answer.count, hasRun: true)) != false else { return true }
        let isKept = half.life.isResumable ? keep(answer.memory, as: answer, to: id) : true
        send(.shared(answer), over: channel, isLast: false)
        return isKept
    }

    /// - Parameter shared: the same answer in memory of its own, which is then kept without a copy.
    @inline(__always)
    @discardableResult
    private func keep(_ answer: UnsafeRawBufferPointer, as shared: Bytes? = nil, to id: RPCIdentifier) -> Bool {
        let limit = half.keep(answer, shared: shared, isFullInAll: admission.isFullInAll)
        if let limit { keepOutcome(of: id, because: limit) }
        reportKeptBytes()
        return limit == nil
    }

    /// Keeps an error in place of an answer that is too much to keep. It tells that the call ran.
    @inline(never)
    private func keepOutcome(of id: RPCIdentifier, because limit: Limit) {
        overran(limit)
        let output = JSONOutput()
        MessageWriter.writeFailure(id: id, error: RPCError.notKept(limit, settings.limits).errorObject, in: output)
        half.keepAnyway(output.bytes)
    }

    @inline(never)
    private func keepAnswerWithoutPlace(_ answer: UnsafeRawBufferPointer) {
        let limit = half.keepAnswerWithoutPlace(answer, isFullInAll: admission.isFullInAll)
        reportKeptBytes()
        guard let limit else { return }
        overran(limit)
        let what = "\(half.replies.count) answers were not acknowledged (\(limit))"
        log(LogRecord(.warning, "the session of \(address) ends with its connection: \(what)"))
        endWithChannel()
    }

    /// Tells the totals of all sessions how much this session keeps.
    @inline(__always)
    func reportKeptBytes() {
        if let change = half.takeKeptBytesChange() { requester.account.owes(change) }
    }

    /// Called when the other end has acknowledged answers and transfers.
    func acknowledged(_ progress: Progress) {
        checkLoop()
        half.acknowledged(replies: progress.replies, transfers: progress.transfers ?? 0)
        arrived(replies: progress.replies, lacksOthers: false)
        reportKeptBytes()
        releaseHeldBack()
        // The other end may never report the answers that were kept since by itself, so it is asked to.
        if !admission.heldBack.isEmpty, !half.replies.isEmpty { notify(SystemMethod.report) }
    }

    /// Lets a request wait until answers have been acknowledged, and asks the other end to acknowledge them now.
    private func holdBack(_ request: consuming IncomingRequest, _ limit: Limit) {
        overran(limit)
        if admission.heldBack.isEmpty { notify(SystemMethod.report) }
        var request = request
        request.waitsForLong()
        admission.heldBack.append(request)
    }

    func releaseHeldBack() {
        while admission.overrunByReplies(of: half) == nil, var request = admission.heldBack.popFirst() {
            request.arrived = loop.now
            begin(request)
        }
        admission.heldBack.letGo(beyond: 64)
    }
}
