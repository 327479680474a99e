// How requests are run: the subject is called, what it returns or throws is written, and the request leaves the table. On the
// loop.

import JSONCodec
import RPCSockets
import RPCWire
import Synchronization

extension Worker {
    /// Runs the request in its place and sends its answer. Posts of one session run one after the other, in order. Part of the
    /// worker's loop: an async function of its own costs a frame for each request.
    @inline(__always)
    func runRequest() async {
        guard place.request.method.isPost else { return await perform() }
        await runPosts()
    }

    private func runPosts() async {
        guard let first = place.take() else { return }
        let session = first.session
        var turn = session.posts.begin(first)
        while let post = turn.take() {
            place.put(post)
            await perform()
            guard var next = session.posts.next() else { return }
            if isUsedUp {
                // The task is; the posts that follow are not to suffer for it.
                next.isNextPost = true
                next.arrived = session.loop.now
                return session.runner.accept(next)
            }
            turn = consume next
        }
    }

    /// Runs the request in its place, and those that follow it and are for the same method. Not a frame of its own.
    @inline(__always)
    private func perform() async {
        let method = place.request.method
        var failure: (any Error)?
        do {
            let params = try begin()
            try await method.run(_IncomingCall(of: method, params: params, on: self))
        } catch let thrown {
            failure = thrown
        }
        // None if the last that it ran is finished.
        guard !place.isFree else { return }
        if !runner.takeBack() { await place.request.session.follow(after: method, failure) }
        finish(failure)
    }

    /// The subject has returned and its result is written: the request is finished, unless its method does something else
    /// after it or the loop is elsewhere by now. If the next request is for the same method, and may run now, it has begun.
    /// - Returns: the text of the next one's arguments. What is thrown is the next one's fault.
    func goesOn() throws -> UnsafeRawBufferPointer? {
        guard !place.isFree, !place.request.method.isAlone, runner.takeBack() else { return nil }
        let isNext = runner.isNext(like: place.request)
        finish(nil)
        guard isNext, !isUsedUp, runner.putNextInTurn(in: &place) else { return nil }
        return try begin()
    }

    /// Not counted: the request keeps it, in its place.
    private var session: Unmanaged<Session> { .passUnretained(place.request.session) }

    /// - Returns: the text of the arguments.
    @inline(__always)
    private func begin() throws -> UnsafeRawBufferPointer {
        let isWanted = session._withUnsafeGuaranteedRef { $0.prepare(place.request, on: self) }
        guard isWanted else { throw NeverBegan() }
        return place.request.params
    }

    /// Lets go of the request as well, before the loop is lent for the next.
    @inline(__always)
    private func finish(_ failure: (any Error)?) {
        session._withUnsafeGuaranteedRef { session in
            session.withConnection { session.finish(place.request, failure, on: self, over: $0) }
        }
        place.clear()
    }
}

extension Session {
    /// False when it has been cancelled while it waited.
    @inline(__always)
    fileprivate func prepare(_ request: borrowing IncomingRequest, on worker: Worker) -> Bool {
        worker.output.removeAll()
        waitingRequests -= 1
        if waitingRequests == 0 { runner.waitingSessions -= 1 }
        connection?.unstall()
        let isWanted = calls.begin(slot: request.slot, by: .passUnretained(worker))
        guard isWanted else { return false }
        if let id = request.id { MessageEncoder.openResult(id: id, in: worker.output) }
        runner.lend()
        return true
    }

    /// The connection that serves the session now. Not counted: an answer does not lose it, since a stream ends in a turn of
    /// its own, whatever is done with it.
    @inline(__always)
    fileprivate func withConnection(_ body: (Connection?) -> Void) {
        guard let connection = connection.map({ Unmanaged.passUnretained($0) }) else { return body(nil) }
        connection._withUnsafeGuaranteedRef { body($0) }
    }

    /// The subject has returned, or thrown.
    @inline(__always)
    fileprivate func finish(
        _ request: borrowing IncomingRequest, _ failure: (any Error)?, on worker: Worker, over connection: Connection?
    ) {
        let output = worker.output
        let stop = calls.finish(slot: request.slot)
        requestEnded()
        connection?.answered()
        if let failure {
            let (error, outcome) = request.method.explained(failure)
            write(stop.map { .stopped($0, outcome: outcome) } ?? error, outcome, to: request, in: output)
        } else {
            MessageEncoder.closeResult(in: output)
        }
        if let id = request.id {
            if output.count > frameLimit { writeTooLarge(request, in: output) }
            if output.count > LargeBlocks.least {
                sendLarge(output, to: id, in: request.batch, over: connection)
            } else {
                // Behind a call that others follow there is something left to do on the loop; behind a post there need not be.
                let isLast = !request.method.isPost
                send(output.bytes, to: id, in: request.batch, over: connection, isLast: isLast)
            }
        }
    }

    fileprivate func follow(after method: _ExportedMethod, _ failure: (any Error)?) async {
        guard let since = await runner.follow(), failure?.isBeforeSubject != true else { return }
        let time = since.duration(to: MonotonicClock.now)
        // A thread that was away for less may only have waited for a processor.
        guard time >= .milliseconds(10), !method.isToldOf.exchange(true, ordering: .relaxed) else { return }
        peer.log(
            "\(method.signature.wireName) has kept its thread for \(time.nanoseconds / 1_000_000) ms, and another went on for "
                + "it: what blocks belongs on a thread of its own (maximumBlockedThreads). This is told once")
    }

    private func write(
        _ error: any Error, _ outcome: RPCError.Outcome, to request: borrowing IncomingRequest, in output: JSONOutput
    ) {
        let method = request.method
        guard let id = request.id else { return peer.log("the post \(method.signature.wireName) failed: \(error)") }
        let object = ErrorObject(
            error, outcome, thrownBy: method.signature.wireName, of: method.service, log: peer.log)
        output.removeAll()
        MessageEncoder.writeFailure(id: id, error: object, in: output)
    }

    private func writeTooLarge(_ request: borrowing IncomingRequest, in output: JSONOutput) {
        let (size, limit) = (output.count, frameLimit)
        let name = request.method.signature.wireName
        overran(.maximumFrameSize)
        let text = "the reply of \(name) has \(size) bytes; a frame may have \(limit) (maximumFrameSize)"
        write(RPCError(.responseTooLarge, text, outcome: .executed), .executed, to: request, in: output)
    }
}
