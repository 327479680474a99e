// The messages of a connection as they come. Requests that may not begin yet wait and begin in their order. All other messages pass
// them. Reading pauses only when the waiting requests take more memory than they may. On the loop.

import RPCWire

extension Link {
    /// Why no more is read.
    enum Pause {
        case none
        /// The requests before the first that waits may be over in a moment. After one turn the rest is read in any case, since there
        /// may be replies among it.
        case forOneTurn
        /// The requests that wait take too much memory, or what follows them cannot be read.
        case untilFewerWait
    }

    /// How many waiting messages begin in one turn of the loop.
    private static let messagesPerTurn = 256

    /// Whether the channel is to hand on more messages.
    @inline(__always)
    var wantsMore: Bool { if case .none? = connection?.pause { true } else { false } }

    var hasWaiting: Bool { !waiting.isEmpty }

    /// A message has come over the channel.
    /// - Parameter size: how many bytes it has.
    @inline(__always)
    func received(_ message: consuming Message, size: Int) {
        checkLoop()
        switch message {
        case .request, .batch, .unreadable, .naming(.request, _), .naming(.unreadable, _):
            guard mayBegin || passesWaiting(message) else {
                keepWaiting(message, size: size)
                return learnFromFirstMessage()
            }
        // Their sender may wait for an answer, and must take the earlier ones first.
        case .invalid, .refused: if isOutputCrowded { return keepWaiting(message, size: size) }
        case .result, .failure, .ignored, .naming: break
        }
        accept(message, size: size)
        learnFromFirstMessage()
    }

    /// The first message tells an end that says no hello what the other one is.
    @inline(__always)
    private func learnFromFirstMessage() {
        if half.life.isGreeting, !saysHello { _ = half.life.greeted() }
    }

    /// Called when the channel has stopped reading for now.
    /// - Parameter all: whether everything has been read that has come.
    func hasRead(all: Bool) {
        checkLoop()
        connection?.isAllRead = all
        if all { finishIfAnswered() }
        handOnReplies()
    }

    /// Hands all collected replies to their callers at once. Callers that are resumed earlier would compete with the reading.
    func handOnReplies() {
        guard !replies.isEmpty else { return }
        let (answers, stray) = requester.replied(&replies, over: connection?.number ?? 0)
        connection?.answers &+= answers
        // Removed one by one: there are few of them, and removing a range takes longer.
        while !replies.isEmpty { replies.removeLast() }
        if let stray { countStray("a reply with the id \(stray): no call had it") }
    }

    // MARK: requests that wait

    /// Whether a request that comes now may begin.
    @inline(__always)
    private var mayBegin: Bool {
        guard !hasWaiting, !isOutputCrowded, nextRequest == .now else { return false }
        connection?.hasPaused = false
        return true
    }

    @inline(never)
    private func keepWaiting(_ message: Message, size: Int) {
        let isFirst = !hasWaiting
        waiting.append(message, size: size)
        tellBytes()
        if let limit = overrunByWaiting { pauseReading(limit) }
        guard isFirst else { return }
        beginLater()
        guard connection?.hasPaused == false, wantsMore else { return }
        connection?.hasPaused = true
        connection?.pause = .forOneTurn
    }

    /// Whether a message may overtake the requests that wait: any message but a request. Requests of the protocol may if their
    /// order does not matter.
    private func passesWaiting(_ message: Message) -> Bool {
        switch message {
        case .request(let request): passesWaiting(request)
        case .naming(let message, _): passesWaiting(message)
        case .batch(let messages): !isOutputCrowded && messages.allSatisfy { passesWaiting($0) }
        // An unreadable request is counted by its number, in its order.
        case .unreadable(let request, _): request.isTransfer && half.hasTransfers
        case .result, .failure, .invalid, .refused, .ignored: true
        }
    }

    private func passesWaiting(_ request: Request) -> Bool {
        if request.isTransfer { return half.hasTransfers }
        guard request.isSystem else { return false }
        // What has a number of the session keeps its place among them.
        if isNumberedNext(request) { return false }
        switch request.shortName {
        case SystemMethod.hello, SystemMethod.authenticate, SystemMethod.ping: return true
        case SystemMethod.received, SystemMethod.report, SystemMethod.drain: return request.id == nil
        // The cancellation of a call that waits here must follow that call.
        case SystemMethod.cancel: return runs(canceledBy: request)
        default: return false
        }
    }

    /// Begins waiting requests, in order, for as long as they may begin.
    private func beginWaiting() {
        connection?.isBeginning = false
        defer { handOnReplies() }
        var budget = Self.messagesPerTurn
        while hasWaiting, connection?.channel.isOver == false {
            switch isOutputCrowded ? .stalled : nextRequest {
            case .now where budget > 0: break
            // `retryWaitingRequests` comes back here when a request has begun or ended.
            case .stalled: return readOn()
            default:
                beginLater()
                return readOn()
            }
            let first = waiting.popFirst()
            tellBytes()
            guard let first else { continue }
            budget -= first.message.count
            accept(first.message, size: first.size)
        }
        readOn()
        guard !hasWaiting else { return }
        if connection?.owesReport == true { report() }
        connection?.owesReport = false
        allHaveBegun()
    }

    private func beginLater() {
        guard connection?.isBeginning == false else { return }
        connection?.isBeginning = true
        loop.submit { [self] in beginWaiting() }
    }

    /// Called when a request has begun or ended: a waiting request may have its turn now.
    @inline(__always)
    func retryWaitingRequests() {
        if hasWaiting { beginLater() }
    }

    /// Whether so many bytes wait for the other end that no further request of it begins.
    @inline(__always)
    private var isOutputCrowded: Bool {
        guard let output = connection?.output, output > 0 else { return false }
        return output > (isAccepted ? settings.limits.pauseReading : settings.limits.pauseBeginning)
    }

    // MARK: pauses

    /// The limit that the waiting requests have reached; nil if none.
    private var overrunByWaiting: Limit? {
        let bytes = waiting.bytes
        if bytes >= settings.limits.maximumBytesInFlight { return .maximumBytesInFlight }
        return bytes >= SessionAccount.share && admission.isFullInAll ? .maximumBytesInAll : nil
    }

    /// Stops reading until fewer requests wait.
    func pauseReading() { connection?.pause = .untilFewerWait }

    private func pauseReading(_ limit: Limit) {
        pauseReading()
        overran(limit)
        guard let connection, !connection.hasToldOfPause else { return }
        self.connection?.hasToldOfPause = true
        let text =
            "paused reading from \(connection.channel.remoteAddress), replies too: its requests that wait for their turn have "
            + "\(waiting.bytes) bytes (\(limit)). Logged once for each connection"
        log(LogRecord(.warning, text))
    }

    /// Reads on after a pause: after a long one, once at most half of the permitted bytes wait.
    private func readOn() {
        guard let connection, overrunByWaiting == nil else { return }
        switch connection.pause {
        case .none: return
        case .forOneTurn: break
        case .untilFewerWait:
            guard waiting.isEmpty || waiting.bytes <= settings.limits.maximumBytesInFlight / 2
            else {
                return
            }
        }
        self.connection?.pause = .none
        connection.channel.readOn()
    }

    /// Drops what waits when the connection has ended. If the session goes on, the other end sends the requests again; otherwise
    /// they never run, and the log says so.
    func dropWaiting() {
        guard let connection else { return }
        if hasWaiting, !half.life.isResumable {
            let count = waiting.count == 1 ? "1 request" : "\(waiting.count) requests"
            let text =
                "\(count) of \(connection.channel.remoteAddress) had not begun when the connection ended, and never will"
            log(LogRecord(.warning, text))
        }
        waiting.removeAll()
        self.connection?.output = 0
        tellBytes()
    }
}

/// Messages in the order in which they came, with a count of the memory that they take.
struct WaitingMessages: ~Copyable {
    struct Entry {
        let message: Message
        /// How many bytes the message has, and about how much memory it takes.
        let size: Int
        let cost: Int
    }

    /// The memory that a message takes besides its bytes, and that of a batch for each of its members.
    private static let overhead = 384
    private static let overheadOfMember = 512

    private var entries = Queue<Entry>()
    /// About how much memory the messages take.
    private(set) var bytes = 0

    @inline(__always)
    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    /// Adds a message at the end. Copies one that is a small part of what was read at once, so as not to keep the rest.
    mutating func append(_ message: Message, size: Int) {
        var cost = size + Self.overhead
        // A member may be a byte long, such as one that is no request and will be answered with an error.
        if case .batch(let members) = message { cost += members.count * Self.overheadOfMember }
        entries.append(Entry(message: message.inOwnMemory, size: size, cost: cost))
        bytes += cost
    }

    mutating func popFirst() -> (message: Message, size: Int)? {
        guard let first = entries.popFirst() else { return nil }
        bytes -= first.cost
        entries.letGo(beyond: 64)
        return (first.message, first.size)
    }

    mutating func removeAll() {
        entries.removeAll()
        bytes = 0
    }
}
