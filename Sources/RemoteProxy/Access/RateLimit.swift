// How often something may happen in a while. Pure: each time it happens in, whether it may out.

package import RPCWire

package struct RateLimit: Sendable {
    private let most: Int
    /// In nanoseconds: half as large as a duration, and every connection has two of these.
    private let window: Int64
    private var end: Instant?
    private var count = 0

    package init(most: Int, per window: Duration) {
        self.most = most
        self.window = window.nanoseconds
    }

    /// It happens. Whether that is still within the limit.
    package mutating func admits(at now: Instant) -> Bool {
        if end.map({ now >= $0 }) ?? true {
            end = now.advanced(by: .nanoseconds(window))
            count = 0
        }
        count &+= 1
        return count <= most
    }

    /// When the count begins anew; nil before the first time.
    package var windowEnd: Instant? { end }
}
