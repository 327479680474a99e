// Everything that one connection is watched for, in one place: its identity, whether it sends fast enough, whether it still
// answers, and whether it asks for too much. Values only; `FramedChannel+Gate` feeds them and does what they decide.

import RPCSockets
package import RPCWire

package struct Gate {
    /// The window in which pings and cancellations are counted.
    static let window = Duration.seconds(10)

    /// Shared by all connections of a server.
    private let shared: Shared<LinkSettings>
    var settings: LinkSettings { shared.value }
    private var limits: Limits { shared.value.limits }
    var login: Login
    /// Whether the peer has sent anything: then it is known whether its channel lets it in.
    var hasMetPeer = false
    /// Whether the connection ended because the other end stopped answering or reading.
    var isSilent = false
    var frameTimeout: FrameTimeout
    var keepalive: PingTimer
    private var pings = RateLimit()
    private var unknownCancels = RateLimit()
    /// How many cancellations of no call are expected: one for each request that has ended, since the two may have crossed.
    private var expectedCancels = 0
    private let opened: Instant
    private var used: Instant
    /// Due moments are rounded up to multiples of so many nanoseconds, so that one timer of the loop serves many connections.
    private let grain: Int64
    /// How many bytes of a peer without a login have come and not been read yet.
    var lockedInput = 0

    /// - Parameter isAccepted: whether the other end dialled; only then must it prove its identity.
    init(_ shared: Shared<LinkSettings>, isAccepted: Bool, at now: Instant) {
        let (settings, limits) = (shared.value, shared.value.limits)
        self.shared = shared
        login = Login(needsProof: isAccepted && settings.tokens.withLock { $0 } != nil)
        frameTimeout = FrameTimeout(awaitsFirstByte: isAccepted && limits.firstByteTime > .zero, at: now)
        keepalive = PingTimer(
            interval: limits.keepalive.interval, timeout: limits.keepalive.timeout, isSecond: isAccepted, at: now)
        (opened, used) = (now, now)
        grain = Self.grain(of: limits)
    }

    private static func grain(of limits: Limits) -> Int64 {
        let times = [
            limits.loginTime, limits.firstByteTime, limits.frameTime, limits.idleTime,
            limits.keepalive.interval, limits.keepalive.timeout,
        ]
        let shortest = times.filter { $0 > .zero }.min() ?? .seconds(1)
        return min(max(shortest / 16, .milliseconds(1)), .seconds(1)).nanoseconds
    }

    // MARK: time

    /// When the connection is to be checked next, if nothing happens before.
    var due: Instant { min(frameTimeout.due(limits), keepalive.due, loginDue, idleDue).roundedUp(to: grain) }

    private var loginDue: Instant {
        login.isLocked && limits.loginTime > .zero ? opened.advanced(by: limits.loginTime) : .distantFuture
    }

    private var idleDue: Instant {
        limits.idleTime > .zero ? used.advanced(by: limits.idleTime) : .distantFuture
    }

    package enum Action: Hashable, Sendable {
        case wait
        /// Send a ping.
        case ask
        /// End the connection because of this limit.
        case end(Limit)
    }

    /// Checks the connection. Called when it may be due; returns what to do now.
    mutating func check(at now: Instant) -> Action {
        if let limit = frameTimeout.overrun(limits, at: now) { return .end(limit) }
        if now >= loginDue { return .end(.loginTime) }
        if now >= idleDue {
            // Returned once, however long the connection takes to end.
            used = .distantFuture
            return .end(.idleTime)
        }
        return keepalive.check(at: now)
    }

    /// Notes that the connection is in use: a request came, or earlier requests still run.
    mutating func touch(at now: Instant) { if used < .distantFuture { used = now } }

    // MARK: floods

    mutating func admitsPing(at now: Instant) -> Bool { pings.admits(limits.maximumPings, per: Self.window, at: now) }

    /// Counts a cancellation that found no call. Returns whether that may still be chance.
    mutating func admitsUnknownCancel(at now: Instant) -> Bool {
        guard expectedCancels == 0 else {
            expectedCancels -= 1
            return true
        }
        return unknownCancels.admits(limits.maximumUnknownCancels, per: Self.window, at: now)
    }

    mutating func requestEnded() { expectedCancels = min(expectedCancels + 1, 65_536) }
}

extension Instant {
    fileprivate func roundedUp(to grain: Int64) -> Instant {
        guard self < .distantFuture, grain > 0 else { return self }
        let rest = nanoseconds % grain
        return rest <= 0 ? self : advanced(byNanoseconds: grain - rest)
    }
}
