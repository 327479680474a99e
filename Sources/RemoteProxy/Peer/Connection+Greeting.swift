// How two ends of our own kind find each other: the one that dialled says hello, and if it has lost a connection, which
// session it would go on with and how far it has come; the other answers likewise. Then each sends again what the
// other does not have. On the loop.

import JSONCodec
import RPCWire

extension Connection {
    /// Reserved for the hello: the numbers of calls begin at 1.
    static let helloID: Int64 = 0

    func sayHello() {
        let session = Session.resumable(by: peer)
        let resumption = session.map { Hello.Resumption(session: $0.id, received: Progress($0.receipts)) }
        let hello = Hello(
            timeout: peer.settings.timeout.nanoseconds / 1_000_000, token: gate.settings.token?.text,
            maximumFrameSize: peer.settings.limits.maximumFrameSize, resume: resumption)
        append { output in
            MessageEncoder.openRequest(method: SystemMethod.hello, in: output)
            // Integers and a plain text cannot fail to encode.
            try? output.encode(hello)
            MessageEncoder.closeRequest(id: Self.helloID, timeout: nil, in: output)
        }
        stream.flush()
    }

    func isHello(_ id: RPCIdentifier) -> Bool {
        guard saysHello, case .integer(Self.helloID) = id else { return false }
        return true
    }

    /// The answer to this end's hello. A peer that refuses it is somebody else's server, and is spoken to in plain
    /// JSON-RPC from then on.
    func welcomed(_ answer: Bytes?) {
        // Only once, or a peer could put a connection that has been left back in place of its successor.
        guard phase.greeted() else { return }
        // They came before there was a call for them to answer, and are not to find one now.
        handOnReplies()
        guard let welcome = answer.flatMap({ try? Welcome(json: $0) }) else {
            peer.attach(channel, of: session, .anew)
            return events.ready(self)
        }
        channel.isOurKind = true
        keepAlive()
        limitFrames(to: welcome.maximumFrameSize)
        if let progress = welcome.resumed {
            // Given up here while the answer was on its way: the next hello does not ask for it.
            guard let known = Session.resumable(by: peer), known.id == welcome.session else {
                gate.verdict = "\(stream.remoteAddress) goes on with a session that is over here"
                return stream.abort()
            }
            session = known
            guard session.canHave(progress) else { return endMiscounted() }
            resume(from: progress)
        } else {
            session.outlive(as: welcome.session, grace: welcome.grace.map { .milliseconds($0) })
            peer.attach(channel, of: session, .anew)
        }
        events.ready(self)
    }

    func accept(hello request: Request, in batch: BatchReply?) {
        let hello: Hello
        do {
            hello = try Hello(of: SystemMethod.hello, request).checked()
        } catch {
            return session.answer(request.id, with: ErrorObject(error), in: batch)
        }
        guard lets(in: request, showing: hello.token) else { return }
        if case .accepted(let table) = role, phase.step == .greeting, batch == nil, let resumption = hello.resume,
            let known = table.claim(resumption.session, by: peer.identity)
        {
            return handOver(to: known) { $0.answer(request, hello, resumption.received) }
        }
        session.assumedTimeout = hello.timeout
        limitFrames(to: hello.maximumFrameSize)
        session.answer(request.id, in: batch) { try? $0.encode(welcome(nil)) }
        guard !isOurKind else { return }
        keepAlive()
        channel.isOurKind = true
        session.outlive(as: nil)
    }

    private func limitFrames(to size: Int?) {
        peer.limitFrames(to: size)
        session.frameLimit = peer.frameLimit
    }

    private func welcome(_ resumed: Progress?) -> Welcome {
        Welcome(
            session: session.id, maximumFrameSize: peer.settings.limits.maximumFrameSize,
            grace: session.table.map { $0.grace.nanoseconds / 1_000_000 }, resumed: resumed)
    }

    /// The session may live on another loop than the one that has accepted this connection: the stream goes there, and
    /// a connection of that loop goes on with it.
    private func handOver(to known: Session, _ next: @escaping @Sendable (Connection) -> Void) {
        let loop = known.peer.loop
        guard phase.closed(), let stream = stream.moved(to: loop) else { return self.stream.abort() }
        closeGate(.local)
        let heir = Connection(stream, after: self, for: known)
        events.replaced(heir)
        session.end("the client goes on with another session")
        loop.submit { next(heir) }
    }

    /// Answers a hello whose sender goes on with a session that this end knows.
    private func answer(_ request: Request, _ hello: Hello, _ received: Progress) {
        // It may have ended while the connection was on its way here; the client will be told so when it comes again.
        stream.open(self)
        guard mayTakeOver(session), session.isResumable, phase.greeted() else { return stream.abort() }
        session.entry = gate.login.entry
        guard session.canHave(received) else { return endMiscounted() }
        keepAlive()
        channel.isOurKind = true
        session.assumedTimeout = hello.timeout
        append { output in
            MessageEncoder.openResult(id: request.id ?? .null, in: output)
            try? output.encode(welcome(Progress(session.receipts)))
            MessageEncoder.closeResult(in: output)
        }
        resume(from: received)
        events.ready(self)
        readFrames()
    }

    /// Takes the place of the connection that served the session before, and sends again what the other end lacks.
    private func resume(from progress: Progress) {
        session.connection?.replaced()
        session.served(by: self)
        session.acknowledged(replies: progress.replies)
        for reply in session.replies.messages {
            reply.message.withUnsafeBytes { _ = channel.append($0) }
        }
        peer.attach(channel, of: session, .resumed(received: progress.requests))
    }
}
