// What lies between the two ends of a channel in memory: a queue and a way for each direction, and the rules by which
// bytes and ends travel. Never calls a receiver under its lock, and each receiver only on its own loop.

import RPCSockets
import RPCWire

final class Wire: Sendable {
    enum Side: Sendable {
        case left, right
        var other: Side { self == .left ? .right : .left }
    }

    /// Everything about one end and about what it sends.
    struct End: ~Copyable {
        enum Phase { case open, finishing, ended(ChannelEnd) }

        var phase = Phase.open
        var receiver: (any ByteReceiver)?
        var queued = SendBuffer()
        /// Sent but not yet arrived.
        var onTheWay = SendBuffer()
        var appended: UInt64 = 0
        var sent: UInt64 = 0
        var delivered: UInt64 = 0
        var faults = WireFaults()
        var isSilent = false
        /// More bytes wait than the end should have waiting.
        var isCrowded = false
        /// Some bytes waited when the end was told of its output last.
        var isBlocked = false
        /// A delivery of what this end has sent is in the other end's queue already.
        var isDeliveryDue = false

        var hasEnded: Bool { if case .ended = phase { true } else { false } }
        var isFinishing: Bool { if case .finishing = phase { true } else { false } }
        /// Nothing more will come from here.
        var isExhausted: Bool {
            switch phase {
            case .open: false
            case .finishing: queued.isEmpty && onTheWay.isEmpty
            case .ended: onTheWay.isEmpty
            }
        }
    }

    struct Ends: ~Copyable {
        var left = End()
        var right = End()

        subscript(side: Side) -> End {
            _read { if side == .left { yield left } else { yield right } }
            _modify { if side == .left { yield &left } else { yield &right } }
        }
    }

    /// An end with more waiting bytes is crowded, until half of this is left; as with a socket.
    private static let crowd = 1 << 20

    /// How long an end that has finished waits for the other to notice.
    private static let longestLinger = Duration.seconds(1)

    private let loops: Lock<(left: any Loop, right: any Loop)>
    private let ends = Lock(Ends())

    init(_ left: any Loop, _ right: any Loop) { loops = Lock((left, right)) }

    func loop(of side: Side) -> any Loop { loops.withLock { side == .left ? $0.left : $0.right } }

    /// Nobody receives on that side until it is opened again.
    func move(_ side: Side, to loop: any Loop) -> Bool {
        let isOpen = ends.withLock { ends in
            ends[side].receiver = nil
            return !ends[side].hasEnded
        }
        if isOpen { loops.withLock { if side == .left { $0.left = loop } else { $0.right = loop } } }
        return isOpen
    }

    func open(_ side: Side, _ receiver: any ByteReceiver) {
        ends.withLock { $0[side].receiver = receiver }
        scheduleDelivery(from: side.other)
        loop(of: side).submit { [self] in report(side) }
    }

    func write(_ side: Side, _ fill: (inout SendBuffer, UInt64) -> Void) -> UInt64 {
        ends.withLock { ends in
            let offset = ends[side].appended
            guard case .open = ends[side].phase else { return offset }
            // A buffer of its own, since large messages stand behind the bytes and are not among them.
            var written = SendBuffer()
            fill(&written, offset)
            ends[side].queued.append(written.bytes)
            ends[side].queued.append(written.sharedBytes)
            ends[side].appended += UInt64(written.count)
            if ends[side].queued.count > Self.crowd { ends[side].isCrowded = true }
            return offset
        }
    }

    func waiting(_ side: Side) -> Int { ends.withLock { $0[side].queued.count } }
    func isCrowded(_ side: Side) -> Bool { ends.withLock { $0[side].isCrowded } }

    /// Tells an end that its bytes wait, or that fewer do than before.
    private func tellOutput(of side: Side) {
        let receiver = ends.withLock { ends in
            if ends[side].queued.count <= Self.crowd / 2 { ends[side].isCrowded = false }
            return ends[side].receiver
        }
        receiver?.outputChanged()
    }

    /// Puts on the way what fits.
    func send(_ side: Side) {
        let isNews = ends.withLock { ends in
            ends[side].putOnTheWay()
            return ends[side].countOutput()
        }
        if isNews { loop(of: side).submit { [self] in tellOutput(of: side) } }
        scheduleDelivery(from: side)
    }

    func finish(_ side: Side) {
        ends.withLock { if case .open = $0[side].phase { $0[side].phase = .finishing } }
        let loop = loop(of: side)
        loop.schedule(at: loop.now.advanced(by: Wire.longestLinger)) { [self] in end(side, .local) }
    }

    func faults(of side: Side) -> WireFaults { ends.withLock { $0[side].faults } }
    func delivered(from side: Side) -> UInt64 { ends.withLock { $0[side].delivered } }

    func setFaults(of side: Side, _ faults: WireFaults) {
        ends.withLock { $0[side].faults = faults }
        send(side)
    }

    func cut(_ how: WireFaults.Breakage) {
        ends.withLock { ends in
            ends.left.loseEverything(isSilent: how == .silence)
            ends.right.loseEverything(isSilent: how == .silence)
        }
        if how == .silence { return }
        let end = how == .close ? ChannelEnd.remote : .failed("the wire was cut")
        self.end(.left, end)
        self.end(.right, end)
    }

    /// Ends one side; the other learns of it when it has received what is on the way.
    func end(_ side: Side, _ end: ChannelEnd) {
        let isFirst = ends.withLock { ends in
            switch ends[side].phase {
            case .open: ends[side].phase = .ended(end)
            // Announced by this side, whatever happens afterwards.
            case .finishing: ends[side].phase = .ended(.local)
            case .ended: return false
            }
            ends[side].queued.letGo()
            return true
        }
        guard isFirst else { return }
        loop(of: side).submit { [self] in report(side) }
        scheduleDelivery(from: side)
    }

    private func report(_ side: Side) {
        let told: (any ByteReceiver, ChannelEnd, UInt64)? = ends.withLock { ends in
            guard case .ended(let end) = ends[side].phase, let receiver = ends[side].receiver else { return nil }
            ends[side].receiver = nil
            return (receiver, end, ends[side].sent)
        }
        if let (receiver, end, sent) = told { receiver.ended(end, sentUpTo: sent) }
    }

    private func scheduleDelivery(from side: Side) {
        let isNew = ends.withLock { ends in
            guard !ends[side].isDeliveryDue else { return false }
            ends[side].isDeliveryDue = true
            return true
        }
        if isNew { loop(of: side.other).submit { [self] in deliver(from: side) } }
    }

    /// What comes next out of one direction.
    enum Arrival {
        /// With nobody to give them to, if the receiving end has finished: then they are thrown away.
        case bytes(Bytes, to: (any ByteReceiver)?)
        case end
        case breakage(WireFaults.Breakage)
        case nothing
    }

    /// One turn of one direction, on the loop of the end that receives.
    private func deliver(from side: Side) {
        // That end may have moved since.
        guard loop(of: side.other).isCurrent else {
            return loop(of: side.other).submit { [self] in deliver(from: side) }
        }
        let (arrival, isNews): (Arrival, Bool) = ends.withLock { ends in
            ends[side].isDeliveryDue = false
            guard let receiver = ends[side.other].receiver, !ends[side.other].hasEnded else { return (.nothing, false) }
            let arrival = ends[side].takeArrival(for: ends[side.other].isFinishing ? nil : receiver)
            return (arrival, ends[side].countOutput())
        }
        if isNews { loop(of: side).submit { [self] in tellOutput(of: side) } }
        switch arrival {
        case .nothing: return
        case .bytes(let bytes, let receiver):
            receiver?.received(bytes)
            scheduleDelivery(from: side)
        case .breakage(let how): cut(how)
        case .end:
            end(side.other, .remote)
            // An end that has finished is told when its peer knows.
            end(side, .local)
        }
    }
}

extension Wire.End {
    mutating func putOnTheWay() {
        let room = max(0, faults.capacity - onTheWay.count)
        let count = min(room, queued.count)
        guard count > 0 else { return }
        onTheWay.append(UnsafeRawBufferPointer(rebasing: queued.bytes[..<count]))
        queued.removeFirst(count)
        sent += UInt64(count)
        if isSilent { onTheWay.removeAll() }
    }

    /// Returns whether the end must be told: bytes wait now, or waited before.
    mutating func countOutput() -> Bool {
        defer { isBlocked = !queued.isEmpty }
        return isBlocked || isCrowded || !queued.isEmpty
    }

    mutating func loseEverything(isSilent: Bool) {
        self.isSilent = isSilent
        onTheWay.removeAll()
    }

    mutating func takeArrival(for receiver: (any ByteReceiver)?) -> Wire.Arrival {
        if isSilent || faults.isHeld { return .nothing }
        var count = min(onTheWay.count, max(1, faults.pieceSize))
        if let (offset, how) = faults.breaksAt {
            if delivered >= offset { return .breakage(how) }
            count = min(count, Int(clamping: offset - delivered))
        }
        if isExhausted { return .end }
        guard count > 0 else { return .nothing }
        let piece = Bytes(copying: UnsafeRawBufferPointer(rebasing: onTheWay.bytes[..<count]))
        onTheWay.removeFirst(count)
        delivered += UInt64(count)
        putOnTheWay()
        return .bytes(piece, to: receiver)
    }
}

/// What goes wrong with what one end of an in-memory wire sends.
package struct WireFaults: Sendable {
    /// Bytes arrive in pieces of at most so many, each in a turn of its own.
    package var pieceSize = Int.max
    /// What is sent stays on the way until this is false again.
    package var isHeld = false
    /// How many bytes can be on the way; the rest waits in the sender's queue and does not count as sent.
    package var capacity = Int.max
    /// What happens when so many bytes have arrived.
    package var breaksAt: (offset: UInt64, how: Breakage)?

    package init() {}

    package enum Breakage: Sendable, CaseIterable {
        /// Both ends are told that the connection has failed.
        case reset
        /// Both ends are told that the other has closed.
        case close
        /// Neither end is told, and nothing arrives any more in either direction.
        case silence
    }
}
