// How requests are run: the subject is called, what it returns or throws is written, and the request leaves the table. On the
// loop.

import JSONCodec
import RPCWire
import Synchronization

extension IncomingRequest {
    /// Runs it and sends its answer. Posts of one session run one after the other, in order. Part of the worker's loop: an
    /// async function of its own costs a frame for each request.
    @inline(__always)
    consuming func run(on worker: Worker) async {
        guard method.isPost else { return await worker.perform(self) }
        await runPosts(on: worker)
    }

    private consuming func runPosts(on worker: Worker) async {
        let session = session
        var turn = session.posts.begin(self)
        while let post = turn.take() {
            await worker.perform(post)
            guard var next = session.posts.next() else { return }
            if worker.isUsedUp {
                // The task is; the posts that follow are not to suffer for it.
                next.isNextPost = true
                next.arrived = session.loop.now
                return session.runner.accept(next)
            }
            turn = consume next
        }
    }
}

extension Worker {
    /// Runs one request, and those that follow it and are for the same method. Not a frame of its own.
    @inline(__always)
    fileprivate func perform(_ request: consuming IncomingRequest) async {
        let method = request.method
        var failure: (any Error)?
        do {
            let params = try begin(request)
            try await method.run(_IncomingCall(of: method, params: params, on: self))
        } catch let thrown {
            failure = thrown
        }
        // None if the last that it ran is finished.
        guard let last = place.take() else { return }
        if !last.session.isBack(from: method) { await last.session.follow(after: method) }
        last.session.finish(last, failure, on: self, over: last.session.connection)
    }

    /// The subject has returned and its result is written. If the next request is for the same method as this one, and may
    /// run now, this one is finished and the next has begun. Otherwise what is left is done where it was begun.
    /// - Returns: the text of the next one's arguments. What is thrown is the next one's fault.
    func goesOn() throws -> UnsafeRawBufferPointer? {
        guard let runner = finishIfFollowed(), !isUsedUp, let next = runner.nextInTurn() else { return nil }
        return try begin(next)
    }

    /// Lets go of the request as well, while the loop is not lent for the next.
    /// - Returns: who has the next, if this one is finished.
    @inline(__always)
    private func finishIfFollowed() -> RequestRunner? {
        guard let request = place.take() else { return nil }
        let session = request.session
        guard session.isBack(from: request.method), !request.method.isAlone, session.runner.isNext(request.method)
        else {
            place.put(request)
            return nil
        }
        session.finish(request, nil, on: self, over: session.connection)
        return session.runner
    }

    /// - Returns: the text of its arguments.
    @inline(__always)
    private func begin(_ request: consuming IncomingRequest) throws -> UnsafeRawBufferPointer {
        let request = request
        let params = request.params
        let isWanted = request.session.prepare(request, on: self)
        place.put(request)
        guard isWanted else { throw RPCError(.cancelled, "cancelled before it began", outcome: .notExecuted) }
        return params
    }
}

extension Session {
    /// False when it has been cancelled while it waited.
    fileprivate func prepare(_ request: borrowing IncomingRequest, on worker: Worker) -> Bool {
        worker.output.removeAll()
        waitingRequests -= 1
        if waitingRequests == 0 { runner.waitingSessions -= 1 }
        connection?.unstall()
        let isWanted = calls.begin(slot: request.slot, by: .passUnretained(worker))
        worker.scope.begin(self, deadline: request.deadline < .distantFuture ? request.deadline : nil)
        guard isWanted else { return false }
        if let id = request.id { MessageEncoder.openResult(id: id, in: worker.output) }
        loop.lend(forLong: request.method.keepsThread.load(ordering: .relaxed))
        return true
    }

    /// The subject has returned, or thrown.
    fileprivate func finish(
        _ request: borrowing IncomingRequest, _ failure: (any Error)?, on worker: Worker, over connection: Connection?
    ) {
        let output = worker.output
        let stop = calls.finish(slot: request.slot)
        requestEnded()
        connection?.answered()
        if let failure {
            let error = request.method.explained(failure)
            write(stop.map { .stopped($0, error) } ?? error, to: request, in: output)
        } else {
            MessageEncoder.closeResult(in: output)
        }
        if let id = request.id {
            if output.count > frameLimit { writeTooLarge(request, in: output) }
            if output.count > LargeBlocks.least {
                sendLarge(output, to: id, in: request.batch, over: connection)
            } else {
                send(output.bytes, to: id, in: request.batch, over: connection)
            }
        }
        worker.finished()
    }

    /// The subject has returned or thrown. False when the loop has gone on with another thread.
    fileprivate func isBack(from method: _ExportedMethod) -> Bool {
        guard loop.takeBack() else { return false }
        if method.keepsThread.load(ordering: .relaxed) { method.keepsThread.store(false, ordering: .relaxed) }
        return true
    }

    fileprivate func follow(after method: _ExportedMethod) async {
        guard let absence = await runner.follow() else { return }
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
}
