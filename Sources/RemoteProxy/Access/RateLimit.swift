// How often something may happen in a time. Pure: the moments at which it happens go in, whether it may happen comes out.

package import RPCWire

/// Counts events in windows of a fixed length, and tells when there are too many in one.
package struct RateLimit: Sendable {
    private let most: Int
    /// In nanoseconds, which are half as large as a duration: every connection has two of these.
    private let window: Int64
    private var end: Instant?
    private var count = 0

    package init(most: Int, per window: Duration) {
        self.most = most
        self.window = window.nanoseconds
    }

    /// Counts one more event.
    /// - Returns: whether it is within the limit.
    package mutating func admits(at now: Instant) -> Bool {
        if end.map({ now >= $0 }) ?? true {
            end = now.advanced(by: .nanoseconds(window))
            count = 0
        }
        count &+= 1
        return count <= most
    }

    /// When the present window ends; nil before the first event.
    package var windowEnd: Instant? { end }
}
