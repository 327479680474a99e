// The answering side of a session, the driver of `IncomingCalls`: finds the method that a request asks for, and admits it or
// refuses it before any work. On the loop.

import RPCWire

extension Session {
    /// How many requests of one session, and of all, may wait for a worker before the rest waits with the connection. A peer
    /// that pipelines more is served at the pace of its objects instead of being refused. With fewer an overload would not be
    /// seen.
    private static var mostWaiting: (ofSession: Int, inAll: Int) { (256, 4_096) }
    /// The most bytes of a name that is looked at as a text. It may be as long as a message.
    private static var longestOtherName: Int { 1_024 }

    /// When the next request may begin. Asked before each.
    enum Turn {
        case now
        /// To be asked again in the loop's next turn.
        case later
        /// To be asked again when a request has begun or ended.
        case stalled
    }

    @inline(__always)
    var nextRequest: Turn {
        let backlog = runner.backlog
        if waitingRequests > 0 {
            // There are as many as may be, but not all of them have begun: whether the next one is one too many is known
            // only when they have.
            if calls.isFull { return .stalled }
            // With nothing waiting a connection may always add one, or a busy neighbour would keep it out for ever.
            if waitingRequests >= Self.mostWaiting.ofSession || backlog >= Self.mostWaiting.inAll { return .later }
        }
        return backlog == 0 || overrunInAll == nil ? .now : .later
    }

    func accept(_ request: consuming Request, from connection: Connection, in batch: BatchReply?) {
        guard isNew(request, from: connection) else { return refuseRepeated(request, in: batch) }
        // The name lies in the request, which is still needed behind this.
        guard let method = methods.method(named: request.methodName, in: exports) else {
            return acceptOther(request, from: connection, in: batch)
        }
        start(method, for: request, from: connection, in: batch)
    }

    /// Answers a request that cannot be read. It counts like any other: the other end need not send it again.
    func refuse(_ request: Request, with error: ErrorObject, from connection: Connection, in batch: BatchReply?) {
        overran(error.limit)
        guard isNew(request, from: connection) else { return refuseRepeated(request, in: batch) }
        answer(request.id, with: error, in: batch)
    }

    /// One that names no export: it is for what is held, or for the protocol itself.
    private func acceptOther(_ request: Request, from connection: Connection, in batch: BatchReply?) {
        let name = request.method
        if name.count <= Self.longestOtherName {
            // Without making room for holds where nobody asks for any.
            if name.mayNameHold, let method = held.method(named: name) {
                return start(method, for: request, from: connection, in: batch)
            }
            if request.isSystem { return connection.accept(system: request, in: batch) }
        }
        answer(request.id, with: .unknown(name, exports), in: batch)
    }

    func start(
        _ method: consuming _ExportedMethod, for request: consuming Request, from connection: Connection,
        in batch: BatchReply?
    ) {
        // A post that is refused is lost, and one of them runs at a time; a call is told. Nobody is told of a call that was
        // sent like a post, and any number of those would run.
        let id = request.id
        let isPost = id == nil && method.isPost
        if !isPost, let limit = overrunInAll, !isFirstAndSmall(request) {
            return answerBusy(request, limit, in: batch)
        }
        let now = loop.now
        if let id, runner.isOverloaded(forSessionWith: waitingRequests, at: now) {
            wasBusy(.maximumWait)
            return answer(id, with: .busy(.maximumWait, of: peer.settings.limits), in: batch)
        }
        let deadline = self.deadline(of: request, from: connection, at: now)
        switch calls.start(id, isPost: isPost, bytes: request.paramsCount, deadline: deadline) {
        case .run(let slot):
            connection.noteAsked()
            requestBegan()
            wake(at: deadline)
            let incoming = IncomingRequest(
                request, id: id, method: method, session: self, slot: slot, deadline: deadline, batch: batch,
                arrived: now)
            // A post leaves no answer behind.
            if incoming.id != nil, let limit = overrunByReplies { holdBack(incoming, limit) } else { begin(incoming) }
        case .busy(let limit, _):
            wasBusy(limit)
            answer(id, with: .busy(limit, of: peer.settings.limits), in: batch)
        case .draining:
            answer(id, with: .draining, in: batch)
        }
    }

    @inline(__always)
    func begin(_ request: consuming IncomingRequest) {
        if waitingRequests == 0 { runner.waitingSessions += 1 }
        waitingRequests += 1
        runner.accept(request)
    }

    /// Whether a request has not come before. Of our own kind each has a number, higher than those before it.
    private func isNew(_ request: Request, from connection: Connection) -> Bool {
        guard connection.isOurKind, let number = request.sessionNumber else { return true }
        return receipts.request(number, isPost: request.id == nil, bytes: request.paramsCount)
    }

    /// A request that has come before is never run again. If it still runs, or if its answer is still kept, the answer
    /// comes without being asked for.
    private func refuseRepeated(_ request: Request, in batch: BatchReply?) {
        // In a batch the others would wait for it.
        guard let id = request.id, batch != nil || !calls.isRunning(id) else { return }
        answer(id, with: .repeated, in: batch)
    }

    /// When the other end stops waiting, as far as it told.
    private func deadline(of request: Request, from connection: Connection, at now: Instant) -> Instant {
        // Nobody waits for the end of a post.
        guard request.id != nil else { return .distantFuture }
        guard let left = request.timeout ?? (connection.isOurKind ? assumedTimeout : nil) else { return .distantFuture }
        return now.advanced(byMilliseconds: left)
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
