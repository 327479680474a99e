// How far a connection is on its way from the first byte to the last. Pure: events in, what to do out.

@usableFromInline
package struct ConnectionPhase: Sendable {
    @usableFromInline
    package enum Step: Sendable, Hashable {
        /// Nothing is known of the other end yet: its first message tells, or its answer to the hello.
        case greeting
        case open
        /// Nothing new goes this way; it ends when all that is owed has been said.
        case ending
        /// Nothing more is read.
        case over
    }

    @usableFromInline package private(set) var step = Step.greeting

    package init() {}

    // Asked with every message; comparing the steps of another module goes through a table.
    @inlinable package var isOver: Bool { if case .over = step { true } else { false } }
    @inlinable package var isEnding: Bool { if case .ending = step { true } else { false } }

    /// The other end has shown what it is. False when it had before, or when it is too late.
    package mutating func greeted() -> Bool {
        guard step == .greeting else { return false }
        step = .open
        return true
    }

    /// The other end has said its last word, or wants no more calls.
    package mutating func left() {
        if step != .over { step = .ending }
    }

    /// The bytes make no sense, the stream has ended, or another connection has taken its place. False when it had.
    package mutating func closed() -> Bool {
        defer { step = .over }
        return step != .over
    }
}
