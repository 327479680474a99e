// What two links say to each other besides calls and answers, and where each incoming message goes. On the loop.
//
// The end that dialled says hello. If it has lost a channel, its hello names the session and how far this end has come in it.
// The other end answers in the same way, and each end sends again what the other lacks. From then on each end reports from time
// to time how far it has come, and says when it is going away.

import JSONCodec
import RPCSockets
import RPCWire

// MARK: messages

extension Link {
    /// Handles a message, or a batch.
    /// - Parameters:
    ///   - batch: takes the answer, if the message is a member of a batch.
    ///   - size: how many bytes the message has; nil for a member of a batch.
    @inline(__always)
    func accept(_ message: consuming Message, in batch: BatchReply? = nil, size: Int? = nil) {
        switch consume message {
        case .request(let request):
            if batch == nil, request.isPing { return answerPing() }
            if case .transfer(let number) = request.mark, half.hasTransfers {
                return accept(transfer: request, number, in: batch)
            }
            let isAnswered = request.id != nil
            accept(request, in: batch)
            // The answer to a call reports that the call has come; a post has no answer.
            if !isAnswered { reportReceipts() }
        case .result(let number, let value):
            countReply(size, isPong: number == RPCIdentifier.ofPing)
            guard !isHello(number) else { return welcomed(value) }
            collect(.result(value), to: number)
        case .failure(let number, let error):
            countReply(size, isPong: false)
            overran(error.limit)
            guard !isHello(number) else {
                return error.code == ErrorCode.unauthenticated ? turnBack() : welcomed(nil)
            }
            if peerRunsLibrary, error.isDraining {
                retire(because: error.message)
                if let number, let connection { requester.refused(number, over: connection.number) }
            } else {
                collect(.failure(error), to: number)
            }
        case .unreadable(let request, let error):
            if request.isTransfer, half.hasTransfers {
                return endBroken("has sent a transfer that cannot be read: \(error.message)")
            }
            refuse(request, with: error, in: batch)
            if request.id == nil { reportReceipts() }
        case .naming(let message, let objects): accept(message, naming: objects, in: batch, size: size)
        case .invalid(let id, let error):
            overran(error.limit)
            answer(id, with: error, in: batch)
        case .batch(let messages): accept(messages)
        case .refused(let error): refuseText(error)
        case .ignored(let why): log(LogRecord(.warning, "ignored a message from \(address): \(why)"))
        }
    }

    /// Handles a message that lists objects.
    @inline(never)
    private func accept(_ message: Message, naming handles: [Int64], in batch: BatchReply?, size: Int?) {
        // The member may mean something else to a peer that does not know of objects.
        guard peerListsObjects else { return accept(message, in: batch, size: size) }
        switch message {
        case .request(let request) where !request.isTransfer:
            accept(request, naming: handles, in: batch)
            if request.id == nil { reportReceipts() }
        case .result(let number?, let value) where number > 0:
            countReply(size, isPong: false)
            replies.append(CallReply(number: number, end: .result(value), objects: objects.arrived(handles)))
        default:
            // It is not run, so the objects are given back.
            if case .unreadable(let request, _) = message, isNumberedNext(request) { _ = objects.arrived(handles) }
            accept(message, in: batch, size: size)
        }
        if objects.owesTooMany { endBroken("gives objects and does not take them back") }
    }

    private func accept(_ messages: [Message]) {
        let answered = messages.count { $0.isAnswered }
        let batch = answered == 0 ? nil : BatchReply(count: answered, limit: settings.limits.maximumFrameSize)
        for message in messages { accept(message, in: batch) }
    }

    /// Refuses a frame that holds no message.
    private func refuseText(_ error: ErrorObject) {
        overran(error.limit)
        answer(.null, with: error, in: nil)
        // A first frame that is not JSON is not a caller's typing error: it belongs to another protocol.
        guard isAccepted, half.life.isGreeting, error.code == ErrorCode.parseError, let channel, !channel.isOver else {
            return
        }
        channel.stopReading(because: "closed at this end")
        channel.close()
    }

    private func collect(_ end: CallEnd, to number: Int64?) {
        // The answer to a ping has no call.
        guard let number, number != RPCIdentifier.ofPing else { return }
        replies.append(CallReply(number: number, end: end))
    }

    /// Counts an answer. The other end keeps each answer that is not part of a batch until this end reports that it has come.
    private func countReply(_ bytes: Int?, isPong: Bool) {
        guard let bytes, peerRunsLibrary, !isPong else { return }
        half.receipts.reply(bytes: bytes)
        reportReceipts()
    }

    private func reportReceipts() {
        switch half.receipts.report {
        case .notYet: if connection?.isReportDue == false { reportLater() }
        case .along where peerRunsLibrary: report(flush: false)
        case .atOnce where peerRunsLibrary: report()
        case .along, .atOnce: break
        }
    }

    /// Answers a ping of a peer that runs this library. A ping is no call: its answer has no number of the session and is not
    /// kept.
    private func answerPing() {
        guard let channel, channel.admits(.pinged) else { return }
        channel.append(.copied(MessageWriter.pong))
        channel.flush()
    }

    /// Hands a transfer on, unless it has come before.
    @inline(never)
    private func accept(transfer: Request, _ number: Int64, in batch: BatchReply?) {
        if let id = transfer.id {
            let text = "this is not a request: a transfer has no id"
            return answer(id, with: ErrorObject(code: ErrorCode.invalidRequest, message: text), in: batch)
        }
        // The rest of a batch may come after one that has ended the session.
        guard let channel else { return }
        guard let isNew = half.receipts.transfer(number, bytes: transfer.paramsCount) else {
            return endBroken("has sent transfer \(number) and not the one before")
        }
        _ = channel.admits(.asked)
        if isNew { onTransfer?(transfer) }
        reportReceipts()
    }

    /// Sends a transfer. If the session has no channel, the transfer is kept for the next one. On the loop.
    /// - Parameter write: appends the parameters, as an array or an object.
    /// - Returns: false if the other end knows no transfers, takes no message that long, or is gone: then nothing is sent or kept.
    func transfer(_ method: String, _ write: (JSONOutput) -> Void) -> Bool {
        guard let number = half.nextTransfer else { return false }
        let output = JSONOutput()
        MessageWriter.openRequest(method: method, in: output)
        write(output)
        MessageWriter.closeRequest(id: nil, timeout: nil, .transfer(number), in: output)
        guard output.count <= half.frameLimit else { return false }
        half.sent(transfer: output.bytes)
        reportKeptBytes()
        channel?.append(.copied(output.bytes))
        channel?.flush()
        return true
    }

    /// How long what has come may stay unreported: the other end keeps it, and would not know what became of it.
    private static let longestUnreported = Duration.seconds(1)

    /// Has what has come reported soon, even if nothing else comes.
    @inline(never)
    private func reportLater() {
        guard peerRunsLibrary, half.receipts.hasUnreported, let channel else { return }
        connection?.isReportDue = true
        // Not cancelled: it keeps the channel for a moment only, and sends nothing over one that has ended.
        loop.schedule(at: loop.now.advanced(by: Self.longestUnreported)) { [self] in
            guard self.channel === channel else { return }
            connection?.isReportDue = false
            // A report that was to go along with the next message may still wait for one.
            if half.receipts.hasUnreported { report() } else { channel.flush() }
        }
    }

    /// Tells the other end how far this end has come.
    func report(flush: Bool = true) {
        guard let channel else { return }
        half.receipts.reported()
        channel.append {
            MessageWriter.writeReceipts(
                SystemMethod.received, requests: half.receipts.requests, replies: half.receipts.replies,
                transfers: half.hasTransfers ? half.receipts.transfers : nil, in: $0)
        }
        if flush { channel.flush() }
    }
}

// MARK: the greeting

extension Link {
    /// The number of the hello. The numbers of calls begin at 1.
    static let helloID: Int64 = 0

    private func isHello(_ number: Int64?) -> Bool { number == Self.helloID && saysHello }

    func sayHello() {
        let resumption = Link.resumable(by: requester).map {
            Hello.Resumption(session: $0.id, received: Progress($0.half))
        }
        let hello = Hello(
            timeout: settings.timeout.wholeMilliseconds, token: settings.token?.text,
            maximumFrameSize: settings.limits.maximumFrameSize,
            maximumRequestsInFlight: settings.limits.maximumRequestsInFlight,
            maximumBytesInFlight: settings.limits.maximumBytesInFlight,
            keepaliveInterval: settings.limits.keepalive.interval.wholeMilliseconds,
            grace: settings.sessionGrace?.wholeMilliseconds, resume: resumption)
        channel?.append { output in
            MessageWriter.openRequest(method: SystemMethod.hello, in: output)
            // Integers and a plain text cannot fail to encode.
            try? output.encode(hello)
            MessageWriter.closeRequest(id: Self.helloID, timeout: nil, in: output)
        }
        channel?.flush()
    }

    /// Handles the answer to this end's hello. A peer that refuses it does not run this library, and gets plain JSON-RPC from
    /// then on.
    private func welcomed(_ answer: Bytes?) {
        // A second answer is ignored. With it a peer could put a channel that was left in place of its successor.
        guard let channel, !channel.isOver, half.life.greeted() else { return }
        // These replies came before any call was sent, so they must not meet a call that is sent now.
        handOnReplies()
        guard let welcome = answer.flatMap({ try? Welcome(json: $0) }), welcome.protocol >= Hello.oldest else {
            requester.ask { $0.limitPlaces(to: nil, bytes: nil) }
            return isReady(.anew)
        }
        speaks(welcome.protocol, pingInterval: nil)
        adopt(welcome.maximumFrameSize, welcome.maximumRequestsInFlight, welcome.maximumBytesInFlight)
        let grace = welcome.grace.map { Duration.milliseconds($0) }
        guard let progress = welcome.resumed else {
            outlive(as: welcome.session, grace: grace)
            return isReady(.anew)
        }
        // This end may have given the session up while the answer was on its way. Then its next hello does not name it.
        guard let known = Link.resumable(by: requester), known.id == welcome.session,
            let connection = takeConnection()
        else {
            channel.stopReading(because: "\(channel.remoteAddress) goes on with a session that is over here")
            return channel.abort()
        }
        known.resume(over: connection, from: progress, grace: grace) {}
    }

    private func accept(hello request: Request, in batch: BatchReply?) {
        let hello: Hello
        do {
            hello = try Hello(of: SystemMethod.hello, request).checked()
        } catch {
            return answer(request.id, with: error, in: batch)
        }
        guard admitsLogin(of: request, showing: hello.token) else { return }
        if half.life.isGreeting, batch == nil, let resumption = hello.resume,
            let known = context.sessions?.claim(resumption.session, by: identity)
        {
            return handOver(to: known) { known.goOn(over: $0, answering: request, hello, resumption.received) }
        }
        half.assume(timeout: hello.timeout)
        adopt(hello.maximumFrameSize, hello.maximumRequestsInFlight, hello.maximumBytesInFlight)
        // A second hello changes nothing of the session.
        let grace = half.life.grace ?? grace(wanted: hello)
        answer(request.id, in: batch) { try? $0.encode(welcome(grace, nil)) }
        guard let channel, !peerRunsLibrary else { return }
        speaks(hello.spoken, pingInterval: pingInterval(wanted: hello))
        requester.learn(hello.spoken, of: channel)
        outlive(as: nil, grace: grace)
    }

    /// How long the session of that client waits for it: as long as it wants, within the limits of this end. Nil at an end that
    /// dials.
    private func grace(wanted hello: Hello) -> Duration? {
        guard let usual = context.sessions?.grace else { return nil }
        guard let wanted = hello.grace.map({ Duration.milliseconds($0) }) else { return usual }
        let longest = max(usual, settings.limits.maximumSessionGrace)
        if wanted > longest { overran(.maximumSessionGrace) }
        return min(wanted, longest)
    }

    /// How long that client may be silent before it is pinged: as long as it wants, but no longer than its session could be kept
    /// without a connection. So a client that hangs is noticed.
    private func pingInterval(wanted hello: Hello) -> Duration? {
        guard let wanted = hello.keepaliveInterval.map({ Duration.milliseconds($0) }) else { return nil }
        let longest = max(settings.limits.sessionGrace, settings.limits.maximumSessionGrace)
        return longest == .zero ? wanted : wanted == .zero ? longest : min(wanted, longest)
    }

    /// The other end runs this library, and speaks this version.
    private func speaks(_ version: Int, pingInterval: Duration?) {
        connection?.version = version
        half.hasTransfers = version >= Hello.withTransfers
        if version >= Hello.withObjects { listsObjects() }
        _ = connection?.channel.admits(.greeted(pingInterval: pingInterval))
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

    private func welcome(_ grace: Duration?, _ resumed: Progress?) -> Welcome {
        Welcome(
            session: id, maximumFrameSize: settings.limits.maximumFrameSize,
            maximumRequestsInFlight: settings.limits.maximumRequestsInFlight,
            maximumBytesInFlight: settings.limits.maximumBytesInFlight,
            grace: grace?.wholeMilliseconds, resumed: resumed)
    }

    /// Moves the connection to the link that has its session, and ends this fresh link. The other link may live on another loop.
    private func handOver(to known: Link, _ next: @escaping @Sendable (Connection) -> Void) {
        guard let connection = moveConnection(to: known) else { return }
        end("the client goes on with another session")
        known.loop.submit { next(connection) }
    }

    /// Answers a hello that asks to go on with the session of this link.
    private func goOn(over new: Connection, answering request: Request, _ hello: Hello, _ received: Progress) {
        let channel = new.channel
        // The session may have ended while the channel was on its way here. Then the client learns of it at its next hello.
        channel.open()
        guard mayBeTakenOver(by: channel), half.life.isResumable, !channel.isOver else {
            channel.abort()
            return new.owner(channel, .ended(why: "its session is over", wasOfUse: false))
        }
        entry = channel.login.entry
        let grace = grace(wanted: hello)
        resume(over: new, from: received, grace: grace) {
            speaks(hello.spoken, pingInterval: pingInterval(wanted: hello))
            half.assume(timeout: hello.timeout)
            channel.append { output in
                MessageWriter.openResult(id: request.id ?? .null, in: output)
                try? output.encode(welcome(grace, Progress(half)))
                MessageWriter.closeResult(in: output)
            }
        }
        channel.readOn()
    }

    /// Whether the other end can have come so far, given what this end has sent.
    func canHave(_ progress: Progress) -> Bool {
        half.canHave(
            requests: progress.requests, replies: progress.replies, transfers: progress.transfers ?? 0,
            last: requester.ask { $0.lastNumber })
    }
}

// MARK: logging in

extension Link {
    /// A message of a peer that has not proved its identity. All that such a peer may do is log in.
    func receivedLocked(_ message: Message) {
        switch message {
        case .naming(let message, _): return receivedLocked(message)
        case .request(let request):
            switch request.shortName {
            case SystemMethod.hello, SystemMethod.authenticate: accept(system: request, in: nil)
            // A peer without a login must not be able to write into the log either.
            default: if request.id != nil { answer(request.id, with: .unauthenticated, in: nil) }
            }
        case .unreadable(let request, let error):
            overran(error.limit)
            if request.id != nil { answer(request.id, with: .unauthenticated, in: nil) }
        case .invalid(let id, let error): answer(id, with: error, in: nil)
        case .result, .failure, .ignored: break
        case .batch: answer(.null, with: .unauthenticated, in: nil)
        case .refused(let error): refuseText(error)
        }
        if half.life.isGreeting { _ = half.life.greeted() }
    }

    /// Judges the token of a hello or a login. False when its sender is not let in: the request is then answered here.
    private func admitsLogin(of request: Request, showing token: String?) -> Bool {
        guard let channel, let tokens = settings.tokens.withLock({ $0 }) else { return true }
        var login = channel.login
        guard let token else {
            if login.isLocked { answer(request.id, with: .unauthenticated, in: nil) }
            return !login.isLocked
        }
        guard login.show(tokens.entry(for: token)) else {
            turnAway(request)
            return false
        }
        channel.login = login
        (identity, entry) = (login.identity, login.entry)
        settings.traffic?.count { $0.loggedIn += 1 }
        return true
    }

    /// Refuses a wrong token, slowly: a peer that guesses waits for the answer, and connects again for its next guess.
    private func turnAway(_ request: Request) {
        guard let channel else { return }
        channel.stopReading(because: "closed at this end")
        settings.traffic?.count { $0.failedLogins += 1 }
        log(LogRecord(.warning, "refused \(address): it has shown an unknown token"))
        loop.schedule(at: loop.now.advanced(by: settings.limits.loginDelay)) { [self] in
            answer(request.id, with: .unknownToken, in: nil)
            channel.close()
        }
    }

    /// Handles `rpc.authenticate`, the login of foreign clients.
    private func authenticate(_ request: Request, in batch: BatchReply?) {
        let shown: ShownToken
        do {
            shown = try ShownToken(of: SystemMethod.authenticate, request)
        } catch {
            let isLocked = connection?.channel.login.isLocked == true
            return answer(request.id, with: isLocked ? .unauthenticated : error, in: batch)
        }
        guard admitsLogin(of: request, showing: shown.token) else { return }
        answer(request.id, in: batch) { output in
            output.append(#"{"name":"#)
            if let name = identity?.name { output.append(quoted: name) } else { output.append("null") }
            output.append("}")
        }
    }
}

extension Duration {
    /// Rounded down. Not below zero.
    fileprivate var wholeMilliseconds: Int64 { max(0, nanoseconds / 1_000_000) }
}

/// The parameters of `rpc.authenticate`.
private struct ShownToken: Decodable {
    var token: String
}

// MARK: the other names of the protocol

extension Link {
    func accept(system request: Request, in batch: BatchReply?) {
        let isNotice = request.id == nil && peerRunsLibrary
        switch request.shortName {
        case SystemMethod.cancel:
            if let id = request.params.flatMap(MessageReader.identifier) { cancelRequest(id) }
            answer(request.id, in: batch) { $0.append("null") }
        case SystemMethod.received where isNotice:
            guard let params = request.params, let progress = try? Progress(json: params) else { return }
            guard canHave(progress) else { return endMiscounted() }
            acknowledged(progress)
            if let connection { requester.acknowledged(posts: progress.requests, over: connection.number) }
        case SystemMethod.report where isNotice:
            report()
            connection?.owesReport = hasWaiting
        case SystemMethod.hello:
            accept(hello: request, in: batch)
        case SystemMethod.discover:
            discover(request, in: batch)
        case SystemMethod.supports:
            start(.supports(in: exports) { self.object($0) }, of: .ofProtocol, for: request, in: batch)
        case SystemMethod.hold:
            hold(request, in: batch)
        case SystemMethod.authenticate:
            authenticate(request, in: batch)
        case SystemMethod.ping:
            if channel?.admits(.pinged) == true { answer(request.id, in: batch) { $0.append("null") } }
        case SystemMethod.releaseForeign where request.id == nil && !peerRunsLibrary:
            methods.forgetObjects()
            guard let released = request.params.flatMap({ try? ForeignRelease(json: $0) }), !released.ownedBySender,
                objects.released([(released.handle, 1)])
            else { return countStrayRelease() }
        case SystemMethod.drain where isNotice:
            retire(because: "\(address) is stopping")
        case SystemMethod.goodbye where isNotice:
            saidGoodbye()
        default:
            // By convention a peer ignores unknown notifications under `$/`: no answer, no log line. Unknown requests are
            // answered.
            if request.id == nil, request.isOptional { return }
            answer(request.id, with: .unknown(request.method, exports, isOwnEnd: peerRunsLibrary), in: batch)
        }
    }

    /// Handles `rpc.hold`. The request keeps its place among the posts to the object that it is about.
    private func hold(_ request: Request, in batch: BatchReply?) {
        do throws(RPCError) {
            let wanted = try HoldRequest(of: SystemMethod.hold, request)
            guard wanted.name == nil else { throw RPCError.holdByName }
            guard let object = object(at: wanted.object) else { throw RPCError.noSuchObject(wanted.object, exports) }
            start(.hold(for: .milliseconds(wanted.lease)), of: object, for: request, in: batch)
        } catch {
            answer(request.id, with: error, in: batch)
        }
    }

    /// The object with this path, that is, a wire name without a method.
    private func object(at path: String) -> ExportedObject? {
        guard path.utf8.count <= String.longestCompared else { return nil }
        if let object = exports.object(path) { return object }
        var name = "\(path)."
        return name.withUTF8 { bytes in
            object(WireName(UnsafeRawBufferPointer(bytes)))
        }
    }

    /// The object by reference that a wire name names, if it is of that service. Callable from any thread.
    func object(_ name: WireName) -> ExportedObject? {
        let object = name.handle.flatMap { objects.object($0) }
        return object.flatMap { $0.index.service.name.isEqual(name.service) ? $0 : nil }
    }

    private func discover(_ request: Request, in batch: BatchReply?) {
        let (document, limit) = (exports.discovery, settings.limits.maximumFrameSize)
        guard document.count < limit - min(limit, 1_024) else {
            let text =
                "what there is takes \(document.count) bytes to list; a frame may have \(limit) (maximumFrameSize)"
            let error = RPCError(.responseTooLarge, text, outcome: .executed)
            return answer(request.id, with: error, in: batch)
        }
        answer(request.id, in: batch) { output in document.withUnsafeBytes { output.append($0) } }
    }
}
