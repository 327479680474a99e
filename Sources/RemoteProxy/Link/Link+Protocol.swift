// What two links say to each other besides calls and answers, and where each incoming message goes. On the loop.
//
// The end that dialled says hello. If it has lost a channel, its hello names the session and how far this end has come in it.
// The other end answers in the same way, and each end sends again what the other lacks. From then on each end reports from time
// to time how far it has come, and says when it is going away.

import JSONCodec
import RPCWire

// MARK: messages

extension Link {
    /// Handles a message, or a batch, that came over a channel.
    /// - Parameter size: how many bytes its frame has.
    @inline(__always)
    func accept(_ message: consuming Message, size: Int, over channel: MessageChannel) {
        if channel.gate.login.isLocked { return channel.acceptLocked(message) }
        accept(message, in: nil, size: size, over: channel)
    }

    private func accept(_ messages: [Message], over channel: MessageChannel) {
        let answered = messages.count { $0.isAnswered }
        let batch = answered == 0 ? nil : BatchReply(count: answered, limit: settings.limits.maximumFrameSize)
        for message in messages { accept(message, in: batch, over: channel) }
    }

    /// - Parameter size: the bytes of the message's frame; nil for a member of a batch.
    @inline(__always)
    private func accept(
        _ message: consuming Message, in batch: BatchReply?, size: Int? = nil, over channel: MessageChannel
    ) {
        switch consume message {
        case .request(let request):
            if batch == nil, request.isPing { return channel.answerPing() }
            if case .transfer(let number) = request.mark, channel.peerHasTransfers {
                return accept(transfer: request, number, over: channel)
            }
            let isAnswered = request.id != nil
            accept(request, from: channel, in: batch)
            // The answer to a call reports that the call has come; a post has no answer.
            if !isAnswered { reportReceipts(over: channel) }
        case .result(let number, let value):
            noteReply(size, isPong: number == RPCIdentifier.ofPing, over: channel)
            guard !isHello(number, channel) else { return welcomed(value, over: channel) }
            note(.result(value), to: number, channel)
        case .failure(let number, let error):
            noteReply(size, isPong: false, over: channel)
            overran(error.limit)
            guard !isHello(number, channel) else {
                return error.code == ErrorCode.unauthenticated ? channel.turnBack() : welcomed(nil, over: channel)
            }
            if channel.peerRunsLibrary, error.isDraining {
                leave(because: error.message)
                if let number { requester.refused(number, over: channel) }
            } else {
                note(.failure(error), to: number, channel)
            }
        case .unreadable(let request, let error):
            refuse(request, with: error, from: channel, in: batch)
            if request.id == nil { reportReceipts(over: channel) }
        case .invalid(let id, let error):
            overran(error.limit)
            answer(id, with: error, in: batch)
        case .batch(let messages): accept(messages, over: channel)
        case .refused(let error): channel.refuseText(error)
        case .ignored(let why):
            log(LogRecord(.warning, "ignored a message from \(channel.stream.remoteAddress): \(why)"))
        }
    }

    private func note(_ end: CallEnd, to number: Int64?, _ channel: MessageChannel) {
        // The answer to a ping has no call.
        guard let number, number != RPCIdentifier.ofPing else { return }
        channel.replies.append(CallReply(number: number, end: end))
    }

    /// Counts an answer. The other end keeps each answer that is not part of a batch until this end reports that it has come.
    private func noteReply(_ bytes: Int?, isPong: Bool, over channel: MessageChannel) {
        guard let bytes, channel.peerRunsLibrary, !isPong else { return }
        half.receipts.reply(bytes: bytes)
        reportReceipts(over: channel)
    }

    private func reportReceipts(over channel: MessageChannel) {
        switch half.receipts.report {
        case .notYet: if !channel.input.isReportDue { reportLater(over: channel) }
        case .along where channel.peerRunsLibrary: report(over: channel, flush: false)
        case .atOnce where channel.peerRunsLibrary: report(over: channel)
        case .along, .atOnce: break
        }
    }

    /// Hands a transfer on, unless it has come before.
    @inline(never)
    private func accept(transfer: Request, _ number: Int64, over channel: MessageChannel) {
        // One before it is missing: the other end counts wrong.
        guard let isNew = half.receipts.transfer(number, bytes: transfer.paramsCount) else {
            return endMiscounted(over: channel)
        }
        if isNew { onTransfer?(transfer) }
        reportReceipts(over: channel)
    }

    /// Sends a transfer. If the session has no channel, the transfer is kept for the next one. On the loop.
    /// - Parameter write: appends the parameters, as an array or an object.
    /// - Returns: false if the other end knows no transfers: then nothing is sent or kept.
    func transfer(_ method: String, _ write: (JSONOutput) -> Void) -> Bool {
        guard let number = half.takeTransferNumber() else { return false }
        let output = JSONOutput()
        MessageWriter.openRequest(method: method, in: output)
        write(output)
        MessageWriter.closeRequest(id: nil, timeout: nil, .transfer(number), in: output)
        half.keep(transfer: output.bytes)
        reportKeptBytes()
        channel?.append(output.bytes)
        channel?.stream.flush()
        return true
    }

    /// How long what has come may stay unreported: the other end keeps it, and would not know what became of it.
    private static let longestUnreported = Duration.seconds(1)

    /// Has what has come reported soon, even if nothing else comes.
    @inline(never)
    private func reportLater(over channel: MessageChannel) {
        guard channel.peerRunsLibrary, half.receipts.hasUnreported else { return }
        channel.input.isReportDue = true
        // Not cancelled: it keeps the channel for a moment only, and sends nothing over one that has ended.
        loop.schedule(at: loop.now.advanced(by: Self.longestUnreported)) { [self] in
            channel.input.isReportDue = false
            guard self.channel === channel else { return }
            // A report that was to go along with the next message may still wait for one.
            if half.receipts.hasUnreported { report(over: channel) } else { channel.stream.flush() }
        }
    }

    /// Tells the other end how far this end has come.
    func report(over channel: MessageChannel, flush: Bool = true) {
        half.receipts.reported()
        channel.append {
            MessageWriter.writeReceipts(
                SystemMethod.received, requests: half.receipts.requests, replies: half.receipts.replies,
                transfers: half.hasTransfers ? half.receipts.transfers : nil, in: $0)
        }
        if flush { channel.stream.flush() }
    }
}

// MARK: the greeting

extension Link {
    /// The number of the hello. The numbers of calls begin at 1.
    static let helloID: Int64 = 0

    private func isHello(_ number: Int64?, _ channel: MessageChannel) -> Bool {
        channel.saysHello && number == Self.helloID
    }

    func sayHello(over channel: MessageChannel) {
        let resumption = Link.resumable(by: requester).map {
            Hello.Resumption(session: $0.id, received: Progress($0.half))
        }
        let hello = Hello(
            timeout: settings.timeout.nanoseconds / 1_000_000, token: settings.token?.text,
            maximumFrameSize: settings.limits.maximumFrameSize,
            maximumRequestsInFlight: settings.limits.maximumRequestsInFlight,
            maximumBytesInFlight: settings.limits.maximumBytesInFlight, resume: resumption)
        channel.append { output in
            MessageWriter.openRequest(method: SystemMethod.hello, in: output)
            // Integers and a plain text cannot fail to encode.
            try? output.encode(hello)
            MessageWriter.closeRequest(id: Self.helloID, timeout: nil, in: output)
            // A server of another protocol reads lines, and says what it is when it has one.
            if channel.framing == .lengthPrefixed { output.append(UInt8(ascii: "\n")) }
        }
        channel.stream.flush()
    }

    /// Handles the answer to this end's hello. A peer that refuses it does not run this library, and gets plain JSON-RPC from
    /// then on.
    private func welcomed(_ answer: Bytes?, over channel: MessageChannel) {
        // A second answer is ignored. With it a peer could put a channel that was left in place of its successor.
        guard !channel.isClosed, half.life.greeted() else { return }
        // These replies came before any call was sent, so they must not meet a call that is sent now.
        channel.handOnReplies()
        guard let welcome = answer.flatMap({ try? Welcome(json: $0) }), welcome.protocol >= Hello.oldest else {
            requester.ask { $0.limitPlaces(to: nil, bytes: nil) }
            requester.attach(channel, .anew)
            return channel.tellOwner(channel, .ready(isResumed: false))
        }
        speaks(welcome.protocol, over: channel)
        channel.keepAlive()
        adopt(welcome.maximumFrameSize, welcome.maximumRequestsInFlight, welcome.maximumBytesInFlight)
        if let progress = welcome.resumed {
            // This end may have given the session up while the answer was on its way. Then its next hello does not name it.
            guard let known = Link.resumable(by: requester), known.id == welcome.session else {
                channel.close(because: "\(channel.stream.remoteAddress) goes on with a session that is over here")
                return channel.stream.abort()
            }
            channel.link = known
            guard known.canHave(progress) else { return known.endMiscounted(over: channel) }
            known.resume(over: channel, from: progress)
        } else {
            outlive(as: welcome.session, grace: welcome.grace.map { .milliseconds($0) })
            requester.attach(channel, .anew)
        }
        channel.tellOwner(channel, .ready(isResumed: welcome.resumed != nil))
    }

    private func accept(hello request: Request, in batch: BatchReply?, over channel: MessageChannel) {
        let hello: Hello
        do {
            hello = try Hello(of: SystemMethod.hello, request).checked()
        } catch {
            return answer(request.id, with: ErrorObject(error), in: batch)
        }
        guard channel.admitsLogin(of: request, showing: hello.token) else { return }
        if half.life.isGreeting, batch == nil, let resumption = hello.resume,
            let known = context.sessions?.claim(resumption.session, by: identity)
        {
            return handOver(channel, to: known) { known.goOn(over: $0, answering: request, hello, resumption.received) }
        }
        half.assume(timeout: hello.timeout)
        adopt(hello.maximumFrameSize, hello.maximumRequestsInFlight, hello.maximumBytesInFlight)
        answer(request.id, in: batch) { try? $0.encode(welcome(nil)) }
        guard !channel.peerRunsLibrary else { return }
        channel.keepAlive()
        speaks(hello.spoken, over: channel)
        outlive(as: nil, grace: nil)
    }

    /// The other end runs this library, and speaks this version.
    private func speaks(_ version: Int, over channel: MessageChannel) {
        channel.peerProtocol = version
        half.hasTransfers = channel.peerHasTransfers
    }

    /// Keeps to the limits of the other end; nil for those that it has not named.
    private func adopt(_ frameSize: Int?, _ requests: Int?, _ bytes: Int?) {
        half.limitFrames(
            to: requester.ask {
                $0.limitFrames(to: frameSize)
                $0.limitPlaces(to: requests, bytes: bytes)
                return $0.frameLimit
            })
    }

    private func welcome(_ resumed: Progress?) -> Welcome {
        Welcome(
            session: id, maximumFrameSize: settings.limits.maximumFrameSize,
            maximumRequestsInFlight: settings.limits.maximumRequestsInFlight,
            maximumBytesInFlight: settings.limits.maximumBytesInFlight,
            grace: context.sessions.map { $0.grace.nanoseconds / 1_000_000 }, resumed: resumed)
    }

    /// Moves the connection to the link that has its session, and ends this fresh link. The other link may live on another
    /// loop: the stream moves there, under a new channel.
    private func handOver(
        _ channel: MessageChannel, to known: Link, _ next: @escaping @Sendable (MessageChannel) -> Void
    ) {
        guard channel.close(), let stream = channel.stream.moved(to: known.loop) else {
            return channel.stream.abort()
        }
        channel.closeGate(.local)
        channel.tellBytes()
        let successor = MessageChannel(stream, after: channel, for: known)
        channel.tellOwner(channel, .replaced(by: successor))
        end("the client goes on with another session")
        known.loop.submit { next(successor) }
    }

    /// Answers a hello that asks to go on with the session of this link.
    private func goOn(over channel: MessageChannel, answering request: Request, _ hello: Hello, _ received: Progress) {
        // The session may have ended while the channel was on its way here. Then the client learns of it at its next hello.
        channel.stream.open(channel)
        guard mayBeTakenOver(by: channel), half.life.isResumable, !channel.isClosed else {
            return channel.stream.abort()
        }
        entry = channel.gate.login.entry
        guard canHave(received) else { return endMiscounted(over: channel) }
        channel.keepAlive()
        speaks(hello.spoken, over: channel)
        half.assume(timeout: hello.timeout)
        channel.append { output in
            MessageWriter.openResult(id: request.id ?? .null, in: output)
            try? output.encode(welcome(Progress(half)))
            MessageWriter.closeResult(in: output)
        }
        resume(over: channel, from: received)
        channel.tellOwner(channel, .ready(isResumed: true))
        channel.readFrames()
    }

    /// Whether the other end can have come so far, given what this end has sent.
    private func canHave(_ progress: Progress) -> Bool {
        half.canHave(
            requests: progress.requests, replies: progress.replies, transfers: progress.transfers ?? 0,
            last: requester.ask { $0.lastNumber })
    }
}

// MARK: the other names of the protocol

extension Link {
    func accept(system request: Request, in batch: BatchReply?, over channel: MessageChannel) {
        let isNotice = request.id == nil && channel.peerRunsLibrary
        switch request.shortName {
        case SystemMethod.cancel:
            if let id = request.params.flatMap(MessageReader.identifier) { cancelRequest(id) }
            answer(request.id, in: batch) { $0.append("null") }
        case SystemMethod.received where isNotice:
            guard let params = request.params, let progress = try? Progress(json: params) else { return }
            guard canHave(progress) else { return endMiscounted(over: channel) }
            acknowledged(progress)
            requester.acknowledged(posts: progress.requests, over: channel)
        case SystemMethod.report where isNotice:
            report(over: channel)
            channel.input.owesReport = !channel.input.waiting.isEmpty
        case SystemMethod.hello:
            accept(hello: request, in: batch, over: channel)
        case SystemMethod.discover:
            discover(request, in: batch)
        case SystemMethod.supports:
            start(.supports(in: exports), of: .ofProtocol, for: request, from: channel, in: batch)
        case SystemMethod.authenticate:
            channel.authenticate(request, in: batch)
        case SystemMethod.ping:
            channel.acceptPing(request, in: batch)
        case SystemMethod.drain where isNotice:
            leave(because: "\(channel.stream.remoteAddress) is stopping")
        case SystemMethod.goodbye where isNotice:
            saidGoodbye()
        default:
            // By convention a peer ignores unknown notifications under `$/`: no answer, no log line. Unknown requests are
            // answered.
            if request.id == nil, request.isOptional { return }
            answer(request.id, with: .unknown(request.method, exports, isOwnEnd: channel.peerRunsLibrary), in: batch)
        }
    }

    private func discover(_ request: Request, in batch: BatchReply?) {
        let (document, limit) = (exports.discovery, settings.limits.maximumFrameSize)
        guard document.count < limit - min(limit, 1_024) else {
            let text =
                "what there is takes \(document.count) bytes to list; a frame may have \(limit) (maximumFrameSize)"
            let error = RPCError(.responseTooLarge, text, outcome: .executed)
            return answer(request.id, with: ErrorObject(error), in: batch)
        }
        answer(request.id, in: batch) { output in document.withUnsafeBytes { output.append($0) } }
    }
}
