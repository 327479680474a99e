// Which failures are worth another attempt, how many, and after what wait.

import RPCWire

/// When a failed call is tried again, for `retrying`.
public struct RetryPolicy: Sendable {
    /// Attempts in all, the first one included.
    public var maximumAttempts = 4
    /// The longest wait after the first failure; it doubles with each one. The actual wait is a random part of it.
    public var base: Duration = .milliseconds(50)
    /// The longest wait of all.
    public var limit: Duration = .seconds(2)
    /// What a call may take, all attempts and waits together, when it has no deadline.
    public var timeout: Duration = .seconds(30)
    /// The failures that may pass by themselves. Of others a second attempt would only hear the same again.
    public var codes: Set<RPCError.Code> = [.busy, .unavailable, .connectionLost, .deadlineExceeded]

    /// All defaults.
    public init() {}

    var backoff: Backoff { Backoff(base: base, limit: limit) }

    /// - Parameter isRepeatable: whether running the method twice is the same as once.
    func isWorthRetrying(_ error: RPCError, isRepeatable: Bool) -> Bool {
        guard codes.contains(error.code) else { return false }
        switch error.outcome {
        case .notExecuted: return true
        case .unknown: return isRepeatable
        case .executed: return false
        }
    }
}
