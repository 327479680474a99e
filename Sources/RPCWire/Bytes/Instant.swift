// A moment on the monotonic clock. Everything that waits counts in these: wall-clock jumps move no deadline.

/// Usable from inlined code, which a type that has package access is not by itself: what is marked as inlinable in such a type
/// is called, and never inlined, in another module.
@usableFromInline
package struct Instant: Sendable, Hashable, Comparable {
    /// Nanoseconds since a start that only this process knows.
    @usableFromInline package var nanoseconds: Int64

    @inlinable package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    @inlinable package static var distantFuture: Instant { Instant(nanoseconds: .max) }

    @inlinable package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Saturates: a timeout given as `.seconds(.max)` means "never", not a trap.
    package func advanced(by duration: Duration) -> Instant {
        advanced(byNanoseconds: duration.nanoseconds)
    }

    @inlinable package func advanced(byMilliseconds count: Int64) -> Instant {
        let (step, isTooLong) = count.multipliedReportingOverflow(by: 1_000_000)
        return isTooLong ? (count < 0 ? Instant(nanoseconds: .min) : .distantFuture) : advanced(byNanoseconds: step)
    }

    /// Without the arithmetic of `Duration`, which is wider than what a machine does in one step.
    @inlinable package func advanced(byNanoseconds count: Int64) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(count)
        return Instant(nanoseconds: overflow ? (count < 0 ? .min : .max) : sum)
    }

    /// How long from here until `later`; negative when it has passed.
    package func duration(to later: Instant) -> Duration { .nanoseconds(nanoseconds(to: later)) }

    /// The same as a plain number, for what is done at every turn of a loop.
    @inlinable package func nanoseconds(to later: Instant) -> Int64 {
        let (difference, overflow) = later.nanoseconds.subtractingReportingOverflow(nanoseconds)
        return overflow ? (later > self ? .max : .min) : difference
    }
}

extension Duration {
    /// The whole duration in nanoseconds, held at the ends of the range (292 years).
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || carry ? (seconds < 0 ? .min : .max) : sum
    }
}
