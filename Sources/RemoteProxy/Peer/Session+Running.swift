// How one request is run: the subject is called, what it returns or throws is written, and the request leaves the table. On the
// loop.

import JSONCodec
import RPCWire
import Synchronization

extension IncomingRequest {
    /// Runs it and sends its answer. Posts of one session run one after the other, in order. Part of the worker's loop: an
    /// async function of its own costs a frame for each request.
    @inline(__always)
    consuming func run(on worker: Worker) async {
        guard method.isPost else {
            worker.text = chunk
            chunk = nil
            return await perform(on: worker)
        }
        await runPosts(on: worker)
    }

    private consuming func runPosts(on worker: Worker) async {
        let session = session
        var turn = session.posts.begin(self)
        while var post = turn.take() {
            worker.text = post.chunk.take()
            await post.perform(on: worker)
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

    /// Not a frame of its own.
    @inline(__always)
    private func perform(on worker: Worker) async {
        var failure: (any Error)?
        do {
            try session.prepare(self, on: worker)
            try await method.run(_IncomingCall(of: method, params: params, on: worker))
        } catch let thrown {
            failure = thrown
        }
        if !session.isBack(from: method) { await session.follow(after: method) }
        session.finish(self, failure, on: worker, over: session.connection)
    }
}

extension Session {
    fileprivate func prepare(_ request: borrowing IncomingRequest, on worker: Worker) throws {
        worker.output.removeAll()
        waitingRequests -= 1
        if waitingRequests == 0 { runner.waitingSessions -= 1 }
        connection?.unstall()
        hold(worker, in: request.slot)
        worker.scope.begin(self, deadline: request.deadline < .distantFuture ? request.deadline : nil)
        if calls.isStopping(slot: request.slot) {
            throw RPCError(.cancelled, "cancelled before it began", outcome: .notExecuted)
        }
        if let id = request.id { MessageEncoder.openResult(id: id, in: worker.output) }
        loop.lend(forLong: request.method.keepsThread.load(ordering: .relaxed))
    }

    /// The subject has returned, or thrown.
    fileprivate func finish(
        _ request: borrowing IncomingRequest, _ failure: (any Error)?, on worker: Worker, over connection: Connection?
    ) {
        let output = worker.output
        letGo(ofWorkerIn: request.slot)
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
