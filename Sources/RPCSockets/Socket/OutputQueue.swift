// The outgoing half of a socket channel as a value: what is queued, which thread is writing, and how the channel ends. The
// channel keeps it under a lock, tells it what happens, and does what it returns.
//
// There is one writer at a time. It takes all that is queued and sends it outside the lock, while other threads queue more;
// then it takes that too. Only the writer may use the descriptor; if there is none, only the loop may.

import RPCWire

struct OutputQueue: ~Copyable, Sendable {
    enum Phase: Equatable {
        case open
        /// Queued bytes are still sent; then the channel ends.
        case finishing(ChannelEnd)
        case ended(ChannelEnd)
    }

    enum Writer: Equatable {
        case free
        /// A thread is sending.
        case busy
        /// The socket takes no more bytes. The loop becomes the writer when it does.
        case blocked
    }

    /// What the writer must do next.
    enum Next: Equatable {
        case send
        /// Nothing is queued: stop.
        case rest
        /// Nothing is queued and nothing will be: send the end of the channel.
        case finish
        /// The channel has ended while the writer was at work: have the loop close the descriptor, which waits for that.
        case close
    }

    private(set) var phase = Phase.open
    private(set) var writer = Writer.free
    /// What the next writer will take.
    private var queued = SendBuffer()
    /// Offsets in all that is written: of the end of the queue, and of what the system has taken.
    private(set) var appended: UInt64 = 0
    private(set) var sent: UInt64 = 0

    var waiting: Int { Int(clamping: appended - sent) }

    /// Queues the bytes that `fill` writes, and returns their offset.
    mutating func write(_ fill: (inout SendBuffer, UInt64) -> Void) -> UInt64 {
        let offset = appended
        guard phase == .open else { return offset }
        let before = queued.count
        fill(&queued, offset)
        appended += UInt64(queued.count - before)
        return offset
    }

    /// Makes the calling thread the writer, if there is no writer and there is something to do. Returns whether it is.
    mutating func beginWriting() -> Bool {
        guard writer == .free else { return false }
        switch phase {
        case .open: if appended == sent { return false }
        case .finishing: break
        case .ended: return false
        }
        writer = .busy
        return true
    }

    /// The socket takes bytes again. Returns whether the loop is now the writer.
    mutating func resumeWriting() -> Bool {
        guard writer == .blocked else { return false }
        writer = .busy
        return true
    }

    /// Tells the writer what to do next. Fills the writer's buffer `sending` with the queued bytes if it is empty.
    mutating func next(_ sending: inout SendBuffer) -> Next {
        switch phase {
        case .ended:
            writer = .free
            return .close
        case .open, .finishing:
            if sending.isEmpty { swap(&sending, &queued) }
            if !sending.isEmpty { return .send }
            writer = .free
            return phase == .open ? .rest : .finish
        }
    }

    /// The system has taken this many bytes.
    mutating func didSend(_ count: Int) { sent += UInt64(count) }

    /// The system takes no more for now. Returns whether to wait until it does; false if the channel has ended.
    mutating func block() -> Bool {
        if case .ended = phase {
            writer = .free
            return false
        }
        writer = .blocked
        return true
    }

    /// Nothing more is queued from now on. False if that was so before.
    mutating func finish(_ end: ChannelEnd) -> Bool {
        guard phase == .open else { return false }
        phase = .finishing(end)
        return true
    }

    /// The channel has ended. The first reason counts, also one that `finish` has announced. False if the channel had ended
    /// before.
    mutating func end(_ end: ChannelEnd) -> Bool {
        switch phase {
        case .open: phase = .ended(end)
        case .finishing(let announced): phase = .ended(announced)
        case .ended: return false
        }
        return true
    }

    /// Whether nothing is left to send and there is no writer.
    var isIdle: Bool { waiting == 0 && writer == .free }

    /// Whether the descriptor can be closed. If not, the writer gets `close` from `next` later.
    var isUnused: Bool { writer != .busy }

    /// Gives the memory back.
    mutating func empty() { queued.letGo() }
}

/// What a channel tolerates from its peer: how long output may wait, and how long the peer may be silent.
package struct OutputLimits: Sendable, Hashable {
    /// With more queued bytes the channel is crowded, until half of this is left. A server does not read from the peer then.
    package var pauseReading = 1 << 20
    /// How long a peer may take no bytes although some wait for it.
    package var patience = Duration.seconds(30)

    /// How long a finished channel waits for the peer to close too.
    package var linger = Duration.seconds(1)

    /// How long the peer may be silent before its system is asked whether it is there; zero if it is never asked.
    package var keepaliveInterval = Duration.seconds(15)
    /// How long the peer's system may take to answer that, beyond the interval.
    package var keepaliveTimeout = Duration.seconds(5)

    package init() {}
}
