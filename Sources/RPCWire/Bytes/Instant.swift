// A moment on the monotonic clock. All timeouts and deadlines use it, so changes of the wall clock move none of them.

/// The attribute allows inlined code to use this type. Package access alone does not: other modules would call the inlinable
/// members instead of inlining them.
@usableFromInline
package struct Instant: Sendable, Hashable, Comparable {
    /// Nanoseconds since a start that is the same for the whole process and has no meaning outside of it.
    @usableFromInline package var nanoseconds: Int64

    @inlinable package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    @inlinable package static var distantFuture: Instant { Instant(nanoseconds: .max) }

    @inlinable package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Stops at the ends of the range instead of trapping: a timeout of `.seconds(.max)` means "never".
    package func advanced(by duration: Duration) -> Instant {
        advanced(byNanoseconds: duration.nanoseconds)
    }

    @inlinable package func advanced(byMilliseconds count: Int64) -> Instant {
        let (step, isTooLong) = count.multipliedReportingOverflow(by: 1_000_000)
        return isTooLong ? (count < 0 ? Instant(nanoseconds: .min) : .distantFuture) : advanced(byNanoseconds: step)
    }

    /// The same without the arithmetic of `Duration`, which is wider than one machine word.
    @inlinable package func advanced(byNanoseconds count: Int64) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(count)
        return Instant(nanoseconds: overflow ? (count < 0 ? .min : .max) : sum)
    }

    /// How much time is left until `later`; negative when `later` has passed.
    package func duration(to later: Instant) -> Duration { .nanoseconds(nanoseconds(to: later)) }

    /// The same as a plain number, for code that runs in every turn of a loop.
    @inlinable package func nanoseconds(to later: Instant) -> Int64 {
        let (difference, overflow) = later.nanoseconds.subtractingReportingOverflow(nanoseconds)
        return overflow ? (later > self ? .max : .min) : difference
    }
}

extension Duration {
    /// The whole duration in nanoseconds, limited to the range of `Int64` (292 years).
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || carry ? (seconds < 0 ? .min : .max) : sum
    }
}
