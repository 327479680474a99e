// The phases of a link, from the greeting over its first channel to the end of its session. Pure: events in, what follows out,
// time passed in.

@usableFromInline
package struct Life: Sendable, Hashable {
    @usableFromInline
    package enum Phase: Sendable, Hashable {
        /// Nothing is known of the peer yet. Its first message tells, or its answer to the hello.
        case greeting
        case open
        /// The peer sends no more, or takes no more calls. The channel ends when everything that is owed has been sent.
        case closing
        /// There is no channel. The session ends at this moment, unless the peer comes back over another channel.
        case lost(until: Instant)
        case over
    }

    /// The grace of a session that waits for another channel without a limit.
    package static var forEver: Duration { .nanoseconds(Int64.max) }

    @usableFromInline package private(set) var phase = Phase.greeting
    /// How long the session waits for another channel after it has lost one. Nil if the session ends with its channel.
    @usableFromInline package private(set) var grace: Duration?
    /// Whether the peer has left in good order. Then its calls stop, and its posts still run.
    package var hasLeft = false
    /// Whether the session has gone on over another channel.
    package private(set) var hasResumed = false

    package init() {}

    // Switches instead of `==`: these are asked for each message, and `==` on another module's enum goes through a table.
    @inlinable package var isGreeting: Bool { if case .greeting = phase { true } else { false } }
    @inlinable package var isClosing: Bool { if case .closing = phase { true } else { false } }
    @inlinable package var isOver: Bool { if case .over = phase { true } else { false } }
    /// Whether the session goes on when its channel is lost.
    @inlinable package var isResumable: Bool { grace != nil }

    /// The peer has shown what it is. False if it had before, or if the link is past its greeting for another reason.
    package mutating func greeted() -> Bool {
        guard phase == .greeting else { return false }
        phase = .open
        return true
    }

    /// Both ends can come back to the session, and have agreed how long it waits for that.
    package mutating func goesOn(for grace: Duration) {
        if phase != .over { self.grace = grace }
    }

    /// The peer sends no more, or takes no more calls.
    package mutating func closes() {
        switch phase {
        case .greeting, .open: phase = .closing
        case .closing, .lost, .over: break
        }
    }

    /// Nothing leads back to the session any more.
    package mutating func endsWithChannel() { grace = nil }

    /// The channel is lost.
    /// - Returns: whether the session goes on.
    package mutating func lost(at now: Instant) -> Bool {
        guard phase != .over, let grace else { return false }
        phase = .lost(until: now.advanced(by: grace))
        return true
    }

    /// The session goes on over another channel.
    package mutating func resumed() {
        if phase != .over { (phase, hasResumed) = (.open, true) }
    }

    /// Ends the session. False if it was over before.
    package mutating func end() -> Bool {
        guard phase != .over else { return false }
        (phase, grace) = (.over, nil)
        return true
    }
}
