// How long this end waits before it tries again.

import RPCWire

/// Growing waits between attempts. Each actual wait is a random part of the longest one, so that many ends do not come back at
/// once.
public struct Backoff: Sendable, Hashable {
    /// The longest wait before the second attempt. It doubles with each failure.
    public var initial: Duration
    /// The longest wait before any attempt.
    public var maximum: Duration

    /// Waits that grow from `initial` to `maximum`.
    public init(initial: Duration, maximum: Duration) { (self.initial, self.maximum) = (initial, maximum) }

    var waits: ExponentialBackoff { ExponentialBackoff(base: initial, limit: maximum) }
}
