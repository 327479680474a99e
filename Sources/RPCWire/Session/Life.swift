// How far a link has come, from the greeting over its first channel to the end of its session. Pure: events in, what follows
// out, time passed in.

@usableFromInline
package struct Life: Sendable, Hashable {
    @usableFromInline
    package enum Phase: Sendable, Hashable {
        /// Nothing is known of the other end yet. Its first message tells, or its answer to the hello.
        case greeting
        case open
        /// The other end says no more, or takes no more calls. The channel ends when all that is owed has been said.
        case draining
        /// There is no channel. The session ends at this moment, unless the other end comes back over another channel.
        case lost(until: Instant)
        case over
    }

    /// Stands for a session that waits for another channel without a limit of its own.
    package static var forEver: Duration { .nanoseconds(Int64.max) }

    @usableFromInline package private(set) var phase = Phase.greeting
    /// How long the session waits for another channel when it has lost one. Nil when it ends with its channel.
    @usableFromInline package private(set) var grace: Duration?
    /// Whether the other end has left in good order: its calls stop, and its posts still run.
    package var hasLeft = false

    package init() {}

    // Asked with every message; comparing the phases of another module goes through a table.
    @inlinable package var isGreeting: Bool { if case .greeting = phase { true } else { false } }
    @inlinable package var isDraining: Bool { if case .draining = phase { true } else { false } }
    @inlinable package var isOver: Bool { if case .over = phase { true } else { false } }
    /// Whether the session goes on when its channel is lost.
    @inlinable package var isResumable: Bool { grace != nil }

    /// The other end has shown what it is. False when it had before, or when it is too late.
    package mutating func greeted() -> Bool {
        guard phase == .greeting else { return false }
        phase = .open
        return true
    }

    /// Both ends know how to come back to the session, and have agreed how long it waits for that.
    package mutating func goesOn(for grace: Duration) {
        if phase != .over { self.grace = grace }
    }

    /// The other end has said its last word, or wants no more calls.
    package mutating func drains() {
        switch phase {
        case .greeting, .open: phase = .draining
        case .draining, .lost, .over: break
        }
    }

    /// There is no way back to the session.
    package mutating func endsWithChannel() { grace = nil }

    /// The channel is gone.
    /// - Returns: whether the session goes on.
    package mutating func lost(at now: Instant) -> Bool {
        guard phase != .over, let grace else { return false }
        phase = .lost(until: now.advanced(by: grace))
        return true
    }

    /// The session goes on over another channel.
    package mutating func resumed() {
        if phase != .over { phase = .open }
    }

    /// The session is over. False when it was before.
    package mutating func end() -> Bool {
        guard phase != .over else { return false }
        (phase, grace) = (.over, nil)
        return true
    }
}
