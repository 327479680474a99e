// The outgoing half of a socket channel as a value: what is queued, which thread is writing, and how the channel ends. The channel
// keeps it under a lock, tells it what happens and does what it answers.
//
// One writer at a time takes all that is queued and sends it outside the lock, while the others go on queueing; what
// has come in the meantime it takes along. Only the writer and, when there is none, the loop use the descriptor.

import RPCWire

struct Outgoing: ~Copyable, Sendable {
    enum Phase: Equatable {
        case open
        /// What is queued is still sent; then the channel ends.
        case finishing(ChannelEnd)
        case ended(ChannelEnd)
    }

    enum Writer: Equatable {
        case free
        /// A thread is in the send call.
        case busy
        /// The socket took no more; the loop goes on when it does.
        case blocked
    }

    /// What the writer does next.
    enum Next: Equatable {
        case send
        /// Nothing is queued.
        case rest
        /// Nothing is queued and nothing will be: the end of the channel can be sent.
        case finish
        /// The channel has ended under the writer's hands; the loop waits to close the descriptor.
        case close
    }

    private(set) var phase = Phase.open
    private(set) var writer = Writer.free
    /// What the next writer will take.
    private var queued = SendBuffer()
    /// Offsets: of the end of the queue, and of what the system has taken.
    private(set) var appended: UInt64 = 0
    private(set) var sent: UInt64 = 0

    var waiting: Int { Int(clamping: appended - sent) }

    /// Answers the offset at which `fill` is to write, and whether too much waits for it to write at all.
    mutating func write(
        limit: Int, _ fill: (inout SendBuffer, UInt64) -> Void
    ) -> (offset: UInt64, isOverLimit: Bool) {
        let offset = appended
        guard phase == .open else { return (offset, false) }
        // What waits counts and not the message: one alone may always be as large as a message can be.
        guard waiting <= limit else { return (offset, true) }
        let before = queued.count
        fill(&queued, offset)
        appended += UInt64(queued.count - before)
        return (offset, false)
    }

    /// Asks for the writer's place: granted if it is free and there is something to do.
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

    /// The socket takes bytes again: the loop becomes the writer.
    mutating func resumeWriting() -> Bool {
        guard writer == .blocked else { return false }
        writer = .busy
        return true
    }

    /// The writer asks what to do; `flight` is its own buffer, which is filled when it is empty.
    mutating func next(_ flight: inout SendBuffer) -> Next {
        switch phase {
        case .ended:
            writer = .free
            return .close
        case .open, .finishing:
            if flight.isEmpty { swap(&flight, &queued) }
            if !flight.isEmpty { return .send }
            writer = .free
            return phase == .open ? .rest : .finish
        }
    }

    /// The system took so many bytes.
    mutating func didSend(_ count: Int) { sent += UInt64(count) }

    /// The system takes no more for now. Answers whether the channel is still worth waiting for.
    mutating func block() -> Bool {
        if case .ended = phase {
            writer = .free
            return false
        }
        writer = .blocked
        return true
    }

    /// Nothing more is queued from now on.
    mutating func finish(_ end: ChannelEnd) -> Bool {
        guard phase == .open else { return false }
        phase = .finishing(end)
        return true
    }

    /// The channel is over. The first end counts, and one that was announced by `finish` stays what it was.
    mutating func end(_ end: ChannelEnd) -> Bool {
        switch phase {
        case .open: phase = .ended(end)
        case .finishing(let announced): phase = .ended(announced)
        case .ended: return false
        }
        return true
    }

    /// Whether nothing is left to send and no writer is at work.
    var isIdle: Bool { waiting == 0 && writer == .free }

    /// Whether the descriptor can be closed; if not, the writer will answer `close` to the loop.
    var isUnused: Bool { writer != .busy }

    /// Lets the memory go.
    mutating func empty() { queued.letGo() }
}

/// What a channel puts up with from its peer: how much output may wait for it, how long, and how long silence may last.
package struct OutputLimits: Sendable, Hashable {
    /// Queued bytes above which a server stops reading from the peer that does not read, until half is gone.
    package var pauseReading = 1 << 20
    /// Queued bytes above which the channel fails when one more message is queued.
    package var maximum = 16 << 20
    /// How long a peer may take nothing of what waits for it.
    package var patience = Duration.seconds(30)

    /// How long a channel that has finished waits for the peer to close as well.
    package var linger = Duration.seconds(1)

    /// How long the peer may be silent before its system is asked whether it is there; zero for ever.
    package var keepaliveInterval = Duration.seconds(15)
    /// How long its system may take to answer, beyond that.
    package var keepaliveTimeout = Duration.seconds(5)

    package init() {}
}
