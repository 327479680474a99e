// The two ends of a wire in memory as values: a queue and a way for each direction, and the rules by which bytes and ends travel.

package import RPCWire

extension MemoryWire {
    /// Everything about one end and about what it sends.
    struct End: ~Copyable {
        enum Phase { case open, finishing, ended(ChannelEnd) }

        var settings: MemoryEnd
        var number = 0
        var phase = Phase.open
        var receiver: (any ByteReceiver)?
        /// Written and not sent yet.
        var queued = SendBuffer()
        /// Sent and not arrived yet.
        var onTheWay = SendBuffer()
        var (appended, sent, delivered): (UInt64, UInt64, UInt64) = (0, 0, 0)
        /// More bytes wait than the end should have waiting.
        var isCrowded = false
        /// Some bytes waited when the end was told of its output last.
        var isBlocked = false
        /// A delivery of what this end has sent is in the other end's queue already.
        var isDeliveryDue = false
        /// Nothing is delivered to this end until it, or its output, says so.
        var isPaused = false
        /// The receiver knows that the other end sends no more.
        var hasReadEnd = false
        /// Ends a channel whose other end takes nothing.
        var patience: (any LoopTimer)?
        /// Ends a channel that has finished and whose other end does not notice.
        var lingering: (any LoopTimer)?
        /// What goes wrong with what this end sends.
        var fault: (any WireFault)?
        /// Whether all that is sent from here is lost.
        var isSilent = false

        init(_ settings: MemoryEnd) { self.settings = settings }
    }

    struct Ends: ~Copyable {
        var left: End
        var right: End

        subscript(side: Side) -> End {
            _read { if side == .left { yield left } else { yield right } }
            _modify { if side == .left { yield &left } else { yield &right } }
        }
    }

    /// The next thing that arrives in one direction.
    enum Arrival {
        /// Without a receiver if the receiving end has finished: then they are thrown away.
        case bytes(Bytes, to: (any ByteReceiver)?)
        /// With a receiver that may still write, and does not know yet.
        case end(of: (any ByteReceiver)?)
        case broken(ChannelEnd?)
        case nothing
    }
}

extension MemoryWire.End {
    /// How many bytes can be on the way. As with a socket, the rest waits and does not count as sent.
    private static let capacity = 256 << 10

    var hasEnded: Bool { if case .ended = phase { true } else { false } }
    var isFinishing: Bool { if case .finishing = phase { true } else { false } }
    var isPeerSlow: Bool { settings.pausesReading && queued.count > settings.limits.pauseReading }

    /// Nothing more will come from here.
    private var isExhausted: Bool {
        switch phase {
        case .open: false
        case .finishing: queued.isEmpty && onTheWay.isEmpty
        case .ended: onTheWay.isEmpty
        }
    }

    /// Whether something may be left to deliver.
    var hasMore: Bool {
        if case .open = phase { !onTheWay.isEmpty || fault != nil } else { true }
    }

    func isOpen(for port: MemoryWire.Port) -> Bool {
        if case .open = phase { number == port.number } else { false }
    }

    mutating func written(_ count: Int) {
        appended += UInt64(count)
        if queued.count > settings.limits.pauseReading { isCrowded = true }
    }

    mutating func putOnTheWay() {
        let count = min((fault?.capacity ?? Self.capacity) - onTheWay.count, queued.count)
        guard count > 0 else { return }
        if onTheWay.isEmpty, count == queued.count {
            swap(&onTheWay, &queued)
        } else {
            let part = queued.takeFirst(count)
            part.withUnsafeBytes { onTheWay.append($0) }
        }
        sent += UInt64(count)
        if isSilent { onTheWay.removeAll() }
    }

    /// Returns whether the end must be told: bytes wait now, or waited before.
    mutating func countOutput() -> Bool {
        defer { isBlocked = !queued.isEmpty }
        return isBlocked || isCrowded || !queued.isEmpty
    }

    mutating func takeArrival(for receiver: (any ByteReceiver)?) -> MemoryWire.Arrival {
        if isSilent { return .nothing }
        var count = onTheWay.count
        switch fault?.passage(of: count, after: delivered) {
        case nil: break
        case .held: return .nothing
        case .bytes(let some): count = min(count, some)
        case .broken(let end): return .broken(end)
        }
        if isExhausted { return .end(of: isFinishing ? receiver : nil) }
        guard count > 0 else { return .nothing }
        let bytes = onTheWay.takeFirst(count)
        delivered += UInt64(count)
        putOnTheWay()
        return .bytes(bytes, to: receiver)
    }

    /// Returns the timers that are not needed any more; nil if the end has ended before.
    mutating func end(_ end: ChannelEnd) -> [any LoopTimer]? {
        switch phase {
        case .open: phase = .ended(end)
        // This side has announced its end; a later reason does not count.
        case .finishing: phase = .ended(.local)
        case .ended: return nil
        }
        queued.letGo()
        return [patience.take(), lingering.take()].compactMap { $0 }
    }

    /// Returns false if the end has ended, and needs no timer.
    mutating func keepPatience(_ timer: any LoopTimer) -> Bool {
        if !hasEnded { patience = timer }
        return !hasEnded
    }

    /// Returns false if the end has ended, and needs no timer.
    mutating func keepLingering(_ timer: any LoopTimer) -> Bool {
        if !hasEnded { lingering = timer }
        return !hasEnded
    }

    mutating func move(to loop: any Loop) {
        number += 1
        (receiver, isPaused, appended, sent) = (nil, false, 0, 0)
        settings.loop = loop
    }

    mutating func loseEverything(isSilent: Bool) {
        self.isSilent = isSilent
        onTheWay.removeAll()
    }
}

/// What goes wrong with the bytes that one end sends. Only tests have such a thing. Asked under the lock of the wire.
package protocol WireFault: Sendable {
    /// How many bytes can be on the way.
    var capacity: Int { get }

    /// What becomes of the bytes on the way.
    /// - Parameter delivered: how many bytes have arrived before.
    func passage(of count: Int, after delivered: UInt64) -> WirePassage
}

package enum WirePassage {
    /// Nothing arrives now, not even the end.
    case held
    /// So many bytes arrive now, and perhaps others later.
    case bytes(Int)
    /// The wire breaks, as by `MemoryWire.cut`.
    case broken(ChannelEnd?)
}
