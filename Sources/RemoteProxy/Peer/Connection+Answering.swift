// The answering side of a connection, the driver of `IncomingCalls`: admits requests, has them run, sends their
// answers. On the loop.

import JSONCodec
import RPCWire

extension Connection {
    func accept(_ request: Request, in batch: BatchReply?) {
        let method = methods.method(named: request.method, in: peer.exports) ?? peer.held.method(named: request.method)
        guard let method else {
            if request.isSystem { return accept(system: request, in: batch) }
            return answer(request.id, with: .unknown(request.method, peer.exports), in: batch)
        }
        start(method, for: request, in: batch)
    }

    func start(_ method: _ExportedMethod, for request: Request, in batch: BatchReply?) {
        let deadline = self.deadline(of: request)
        switch calls.start(request.id, deadline: deadline) {
        case .run(let slot):
            wake(at: deadline)
            waitingRequests += 1
            peer.runner.accept(
                IncomingRequest(
                    connection: self, slot: slot, id: request.id, method: method, params: request.params,
                    deadline: deadline, batch: batch))
        case .busy(let limit):
            answer(request.id, with: .busy(limit), in: batch)
        case .draining:
            answer(request.id, with: .draining, in: batch)
        }
    }

    /// Runs one request and sends its answer. Posts of one connection run one after the other, in order.
    func run(_ request: IncomingRequest, on worker: Worker) async {
        guard request.method.signature.shape == .post else { return await perform(request, on: worker) }
        guard request.isNextPost || posts.begin(request) else { return }
        var next: IncomingRequest? = request
        while let post = next {
            await perform(post, on: worker)
            next = posts.next()
            if Task.isCancelled, var post = next {
                // The task is used up; the posts that follow are not to suffer for it.
                post.isNextPost = true
                return peer.runner.accept(post)
            }
        }
    }

    private func perform(_ request: IncomingRequest, on worker: Worker) async {
        let output = worker.output
        output.removeAll()
        waitingRequests -= 1
        unstall()
        hold(worker, in: request.slot)
        do {
            if calls.isStopping(slot: request.slot) {
                throw RPCError(.cancelled, "cancelled before it began", outcome: .notExecuted)
            }
            let deadline = request.deadline < .distantFuture ? request.deadline : nil
            MessageEncoder.openResult(id: request.id ?? .null, in: output)
            try await CallScope.$current.withValue(CallScope(deadline: deadline, caller: Caller(peer))) {
                try await request.method.run(request.params, output)
            }
            MessageEncoder.closeResult(in: output)
            _ = finish(request)
        } catch {
            let stop = finish(request)
            write(stop.map { .stopped($0, error) } ?? error, to: request, in: output)
        }
        guard request.id != nil else { return }
        if output.count > peer.settings.frames.maximumFrameSize { writeTooLarge(request, in: output) }
        send(output.bytes, in: request.batch)
    }

    private func write(_ error: any Error, to request: IncomingRequest, in output: JSONOutput) {
        let object = ErrorObject(error, thrownBy: request.method.service, log: peer.log)
        output.removeAll()
        MessageEncoder.writeFailure(id: request.id ?? .null, error: object, in: output)
        if request.id == nil {
            peer.log("the post \(request.method.signature.wireName) failed: \(error)")
        }
    }

    private func writeTooLarge(_ request: IncomingRequest, in output: JSONOutput) {
        let (size, limit) = (output.count, peer.settings.frames.maximumFrameSize)
        let name = request.method.signature.wireName
        let text = "the reply of \(name) has \(size) bytes; a frame may have \(limit) (maximumFrameSize)"
        write(RPCError(.responseTooLarge, text, outcome: .executed), to: request, in: output)
    }

    /// Sends one answer, alone or as part of its batch.
    private func send(_ answer: UnsafeRawBufferPointer, in batch: BatchReply?) {
        if let batch {
            guard let whole = batch.add(answer) else { return }
            whole.withUnsafeBytes { _ = stream.append($0, framing: outgoingFraming) }
        } else {
            stream.append(answer, framing: outgoingFraming)
        }
        stream.flush()
    }

    /// Answers without running anything. Notifications are never answered.
    func answer(_ id: RPCIdentifier?, with error: ErrorObject, in batch: BatchReply?) {
        guard let id else { return }
        let output = JSONOutput()
        MessageEncoder.writeFailure(id: id, error: error, in: output)
        send(output.bytes, in: batch)
    }

    /// Puts one message of this end's own into the outgoing queue; the caller flushes.
    func append(_ write: (JSONOutput) -> Void) {
        let output = JSONOutput()
        write(output)
        stream.append(output.bytes, framing: outgoingFraming)
    }

    func answer(_ id: RPCIdentifier?, in batch: BatchReply?, result write: (JSONOutput) -> Void) {
        guard let id else { return }
        let output = JSONOutput()
        MessageEncoder.openResult(id: id, in: output)
        write(output)
        MessageEncoder.closeResult(in: output)
        send(output.bytes, in: batch)
    }
}
