// Requests that were read and may not begin yet: they begin in their order when others have, and reading pauses only when
// they take more memory than they may. On the loop.

import RPCWire

extension Connection {
    /// Whether a request that is read now may begin now.
    @inline(__always)
    func mayBegin(_ session: Session) -> Bool { waiting.isEmpty && session.nextRequest == .now }

    @inline(never)
    func keepWaiting(_ frame: Bytes) {
        let isFirst = waiting.isEmpty
        changeWaiting { $0.append(frame) }
        if isFirst { beginWaiting() }
    }

    /// Whether a message is handled although requests wait that came before it: all but requests, and of the protocol's own
    /// notices those that have nothing to do with the requests before them.
    func passesWaiting(_ incoming: borrowing Incoming) -> Bool {
        switch copy incoming {
        case .refused: true
        case .single(let message): passesWaiting(message)
        case .batch(let messages): messages.allSatisfy { passesWaiting($0) }
        }
    }

    private func passesWaiting(_ message: Message) -> Bool {
        // It counts like any other request, in its order.
        if case .unreadable = message { return false }
        guard case .request(let request) = message else { return true }
        guard request.isSystem else { return false }
        switch request.method.description {
        case SystemMethod.hello, SystemMethod.authenticate, SystemMethod.ping: return true
        case SystemMethod.received, SystemMethod.report, SystemMethod.drain: return request.id == nil
        // One of a call that waits here comes behind that.
        case SystemMethod.cancel: return session.runs(canceledBy: request)
        default: return false
        }
    }

    /// Begins requests that wait, for as long as they may.
    func beginWaiting() {
        isBeginning = false
        defer { handOnReplies() }
        var budget = Self.framesPerTurn
        while !phase.isOver, !waiting.isEmpty {
            switch session.nextRequest {
            case .now where budget > 0: budget -= 1
            // Asked again when a request has begun or ended.
            case .stalled: return readOn()
            default:
                beginLater()
                return readOn()
            }
            var frame: Bytes?
            changeWaiting { frame = $0.popFirst() }
            if let frame { accept(messages.decode(frame), size: frame.count) }
        }
        readOn()
        guard waiting.isEmpty else { return }
        if owesReport { report() }
        owesReport = false
        allHaveBegun()
    }

    private func beginLater() {
        guard !isBeginning else { return }
        isBeginning = true
        stream.loop.submit { [self] in beginWaiting() }
    }

    /// A request has begun or ended.
    @inline(__always)
    func unstall() {
        if !waiting.isEmpty { beginLater() }
    }

    // MARK: how much may wait

    /// Little enough to be kept of every connection, however much the others have.
    private static var little: Int { 64 << 10 }

    /// The limit that the requests which wait have reached.
    var overrunByWaiting: Limit? {
        if waiting.bytes >= peer.settings.limits.maximumBytesInFlight { return .maximumBytesInFlight }
        return waiting.bytes >= Self.little && session.waitsTooMuchInAll ? .maximumBytesInAll : nil
    }

    func pauseReading(_ limit: Limit) {
        reading = .paused
        session.overran(limit)
        guard !hasToldOfPause else { return }
        hasToldOfPause = true
        peer.log(
            "reading from \(stream.remoteAddress) pauses, replies too: its requests that wait for their turn have "
                + "\(waiting.bytes) bytes (\(limit)). This is told once for a connection")
    }

    /// Goes on reading when half of what may wait has begun.
    private func readOn() {
        guard reading == .paused, overrunByWaiting == nil,
            waiting.isEmpty || waiting.bytes <= peer.settings.limits.maximumBytesInFlight / 2
        else { return }
        readLater()
    }

    private func changeWaiting(_ change: (inout WaitingFrames) -> Void) {
        let before = waiting.bytes
        change(&waiting)
        session.tellWaiting(waiting.bytes - before)
    }

    /// The connection is over: what has not begun never will. Unless the session goes on: then the other end sends it again.
    func dropWaiting() {
        guard !waiting.isEmpty else { return }
        if !session.isResumable {
            let count = waiting.count == 1 ? "1 request" : "\(waiting.count) requests"
            peer.log("\(count) of \(stream.remoteAddress) had not begun when the connection ended, and never will")
        }
        changeWaiting { $0.removeAll() }
    }
}

struct WaitingFrames {
    /// What a frame takes besides its bytes.
    private static let overhead = 128

    private var frames: [Bytes] = []
    private var first = 0
    /// How much memory the frames take, about.
    private(set) var bytes = 0

    var isEmpty: Bool { first == frames.count }
    var count: Int { frames.count - first }

    /// Adds a frame at the end. A small part of a large chunk is copied, so that it does not keep the chunk.
    mutating func append(_ frame: Bytes) {
        frames.append(frame.isSmallPart ? Bytes(copying: frame.memory) : frame)
        bytes += frame.count + Self.overhead
    }

    mutating func popFirst() -> Bytes? {
        guard first < frames.count else { return nil }
        let frame = frames[first]
        frames[first] = .empty
        first += 1
        bytes -= frame.count + Self.overhead
        if first == frames.count || first >= 256 {
            frames.removeFirst(first)
            first = 0
        }
        return frame
    }

    mutating func removeAll() { self = WaitingFrames() }
}

extension Bytes {
    /// Whether more than three quarters of the chunk that they lie in are something else.
    fileprivate var isSmallPart: Bool { count < (parts.chunk?.memory.count ?? 0) / 4 }
}
