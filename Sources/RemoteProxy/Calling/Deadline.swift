// What a task may know of the time it has.

import RPCSockets
import RPCWire

/// When the call that a task makes or serves has to be over.
///
/// Every remote call made under a deadline ends by it and tells the other end how much is left, so that a subject which
/// calls another service passes on what it was given without writing a line. A subject that computes for long can ask:
///
/// ```swift
/// while let piece = pieces.next() {
///     if let deadline = Deadline.current, deadline.timeLeft < .milliseconds(5) { break }
///     result.add(piece)
/// }
/// ```
public struct Deadline: Sendable, Hashable {
    private let instant: Instant

    /// The deadline of the calling task: the earliest of the call being served and of every `withTimeout` around. Nil
    /// when nobody has set one.
    public static var current: Deadline? {
        CallScope.current?.deadline.map(Deadline.init(instant:))
    }

    private init(instant: Instant) { self.instant = instant }

    /// How long until then, on the monotonic clock; negative when it has passed.
    public var timeLeft: Duration { MonotonicClock.now.duration(to: instant) }

    /// Whether it has passed. By then nobody waits for the result any more.
    public var hasPassed: Bool { timeLeft <= .zero }
}
