// How often something may happen in a time. Pure: the moments at which it happens go in, whether it may happen comes out.

package import RPCWire

/// Counts events in windows of a fixed length, and tells when there are too many in one.
package struct RateLimit: Sendable {
    private var end: Instant?
    private var count = 0

    package init() {}

    /// Counts one more event.
    /// - Returns: whether at most so many have come in this window.
    package mutating func admits(_ most: Int, per window: Duration, at now: Instant) -> Bool {
        if end.map({ now >= $0 }) ?? true {
            end = now.advanced(by: window)
            count = 0
        }
        count &+= 1
        return count <= most
    }

    /// When the present window ends; nil before the first event.
    package var windowEnd: Instant? { end }
}
