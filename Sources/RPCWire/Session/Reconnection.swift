// Decides when a client dials, waits and dials again. Pure: events in, decisions out; time and chance passed in.
//
// Only `closed` is final: no client ends because its server is away, however long. After the loss of a connection that was of
// use, or that lasted, the next attempt is made at once. A server that drops each connection must be left in peace, whether it
// answers a call before or not. So use counts only once until a connection has lasted. Otherwise the client waits first, and
// longer each time; after a connection that was of use, not longer than a new caller would. An attempt that nothing needs may be
// left to the next caller.

package struct Reconnection {
    package enum Phase: Sendable, Hashable {
        /// No connection is needed.
        case idle
        case connecting
        case connected
        case waiting(until: Instant)
        /// The owner wants no connection for now.
        case paused
        case closed
    }

    package enum Action: Sendable, Hashable {
        case nothing
        case dial
        /// Dial at this moment, unless the client is closed or the wait is shortened before.
        case wait(until: Instant)
    }

    private let backoff: ExponentialBackoff
    /// A connection that has lasted so long has not come to nothing.
    private static let lasting = Duration.seconds(1)
    /// The longest that a new caller is kept waiting where callers were told, or where there was a connection. Also the longest
    /// wait after a connection that was of use: calls may be in flight.
    private static let longestForCaller = Duration.seconds(1)

    /// How many attempts and connections in a row have come to nothing.
    private var failures = 0
    /// Whether the attempts and connections before the last one have come to nothing too.
    package var hasFailedBefore: Bool { failures > 1 }
    private var connectedAt = Instant(nanoseconds: 0)
    /// Whether a connection has been of use but has not lasted, and none has lasted since.
    private var hasUsedCredit = false
    /// During a wait: when the next attempt may be made for a new caller. Nil if callers wait as long as the client does.
    private var soonest: Instant?
    package private(set) var phase = Phase.idle

    package init(backoff: ExponentialBackoff) { self.backoff = backoff }

    /// A caller needs a connection.
    package mutating func wanted() -> Action {
        switch phase {
        case .idle:
            phase = .connecting
            return .dial
        case .waiting(let until):
            guard let soonest, soonest < until else { return .nothing }
            phase = .waiting(until: soonest)
            return .wait(until: soonest)
        case .connecting, .connected, .paused, .closed: return .nothing
        }
    }

    /// The dialled connection is ready for calls. False if it is too late and must be dropped.
    package mutating func connected(at now: Instant) -> Bool {
        guard phase == .connecting else { return false }
        phase = .connected
        connectedAt = now
        return true
    }

    /// The attempt failed, or the connection was lost.
    /// - Parameters:
    ///   - chance: a random number in 0 ..< 1.
    ///   - wasOfUse: whether the server has answered a call over the connection.
    package mutating func lost(at now: Instant, chance: Double, wasOfUse: Bool = false) -> Action {
        guard phase == .connected, wasGood(at: now, wasOfUse) else {
            return wait(at: now, chance, wasOfUse)
        }
        phase = .connecting
        return .dial
    }

    /// Whether the connection that ends now was good. The failures before it are then forgotten.
    private mutating func wasGood(at now: Instant, _ wasOfUse: Bool) -> Bool {
        let hasLasted = connectedAt.duration(to: now) >= Self.lasting
        guard hasLasted || wasOfUse && !hasUsedCredit else { return false }
        hasUsedCredit = !hasLasted
        failures = 0
        return true
    }

    /// The server says that it is going away, or an attempt failed. The client waits before it dials again.
    package mutating func left(at now: Instant, chance: Double, wasOfUse: Bool = false) -> Action {
        if phase == .connected { _ = wasGood(at: now, wasOfUse) }
        return wait(at: now, chance, wasOfUse)
    }

    private mutating func wait(at now: Instant, _ chance: Double, _ wasOfUse: Bool) -> Action {
        guard phase == .connecting || phase == .connected else { return .nothing }
        let wasConnected = phase == .connected
        let delay = backoff.delay(afterFailures: failures, chance: chance)
        let until = now.advanced(by: wasOfUse ? min(delay, Self.longestForCaller) : delay)
        failures += 1
        soonest = wasConnected ? now.advanced(by: Self.longestForCaller) : nil
        phase = .waiting(until: until)
        return .wait(until: until)
    }

    /// The next attempt is expected to fail as the last one did, so callers were told.
    package mutating func willFailAgain(at now: Instant) { soonest = now.advanced(by: Self.longestForCaller) }

    /// The wait is over.
    package mutating func waited() -> Action {
        guard case .waiting = phase else { return .nothing }
        phase = .connecting
        return .dial
    }

    /// The attempt that was to be made is not needed. The next caller dials. False if it is not to be made any more.
    package mutating func rest() -> Bool {
        guard phase == .connecting else { return false }
        phase = .idle
        return true
    }

    /// The owner wants no connection until `resume`. False if there is none already for that reason, or for ever.
    package mutating func pause() -> Bool {
        guard phase != .paused, phase != .closed else { return false }
        phase = .paused
        return true
    }

    /// The pause is over, and earlier failures are forgotten. The next caller dials. False if there was no pause.
    package mutating func resume() -> Bool {
        guard phase == .paused else { return false }
        (phase, failures, soonest) = (.idle, 0, nil)
        return true
    }

    /// The owner closes the client. False if it was closed before.
    package mutating func close() -> Bool {
        guard phase != .closed else { return false }
        phase = .closed
        return true
    }
}

package struct ExponentialBackoff: Sendable, Hashable {
    /// The longest wait after the first failure. Each further failure doubles it.
    package var base: Duration
    /// The longest wait after any number of failures.
    package var limit: Duration

    package init(base: Duration = .milliseconds(100), limit: Duration = .seconds(10)) {
        self.base = base
        self.limit = limit
    }

    /// - Parameters:
    ///   - failures: how many attempts in a row have failed before this wait.
    ///   - chance: a random number in 0 ..< 1. The wait is this part of the longest wait.
    package func delay(afterFailures failures: Int, chance: Double) -> Duration {
        // 2^30 times any sensible base is above any sensible limit. With a larger factor the product could overflow.
        let factor = 1 << min(max(failures, 0), 30)
        let longest = base.nanoseconds.multipliedReportingOverflow(by: Int64(factor))
        let bound = longest.overflow ? limit.nanoseconds : min(longest.partialValue, limit.nanoseconds)
        return .nanoseconds(Int64(Double(max(bound, 0)) * min(max(chance, 0), 1)))
    }
}
