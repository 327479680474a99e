// Everything that one connection is watched for, in one place: its identity, whether it comes fast enough, whether it is
// still there, whether it asks for too much. Values only; `MessageChannel+Guard` feeds them and does what they decide.

import RPCSockets
import RPCWire

package struct Gate {
    /// In which pings and cancellations are counted.
    static let window = Duration.seconds(10)

    /// One for all connections of a server.
    private let shared: Shared<LinkSettings>
    var settings: LinkSettings { shared.value }
    private var limits: Limits { shared.value.limits }
    var login: Login
    var arrival: FrameTimeout
    var keepalive: Keepalive
    private var pings: RateLimit
    private var unknownCancels: RateLimit
    /// One for each request that has ended: its cancellation may have crossed with its answer.
    private var expectedCancels = 0
    private let opened: Instant
    private var used: Instant
    /// Due moments are put off to multiples of this, so that many connections wake the loop once.
    private let grain: Duration
    /// Bytes of a peer that is not in yet which have not been looked at.
    var lockedInput = 0
    /// Whether the connection ended because the other end stopped answering or reading.
    var isSilent = false

    /// - Parameter isAccepted: whether the other end came here; only then has it anything to prove.
    init(_ shared: Shared<LinkSettings>, isAccepted: Bool, user: UInt32?, at now: Instant) {
        let (settings, limits) = (shared.value, shared.value.limits)
        self.shared = shared
        login = Login(
            needsProof: isAccepted && settings.tokens.withLock { $0 } != nil,
            identity: isAccepted ? user.map { Identity(name: "uid:\($0)") } : nil,
            maximumInput: limits.loginInput, maximumOutput: limits.loginOutput)
        arrival = FrameTimeout(
            firstByteTime: isAccepted ? limits.firstByteTime : .zero, frameTime: limits.frameTime,
            minimumRate: limits.minimumRate, at: now)
        keepalive = Keepalive(
            interval: limits.keepaliveInterval, timeout: limits.keepaliveTimeout, isSecond: isAccepted, at: now)
        pings = RateLimit(most: limits.maximumPings, per: Self.window)
        unknownCancels = RateLimit(most: limits.maximumUnknownCancels, per: Self.window)
        (opened, used) = (now, now)
        grain = Self.grain(of: limits)
    }

    private static func grain(of limits: Limits) -> Duration {
        let times = [
            limits.loginTime, limits.firstByteTime, limits.frameTime, limits.idleTime,
            limits.keepaliveInterval, limits.keepaliveTimeout,
        ]
        let shortest = times.filter { $0 > .zero }.min() ?? .seconds(1)
        return min(max(shortest / 16, .milliseconds(1)), .seconds(1))
    }

    // MARK: time

    /// When the connection is to be looked at next, if nothing happens before.
    var due: Instant { min(arrival.due, keepalive.due, loginDue, idleDue).roundedUp(to: grain) }

    private var loginDue: Instant {
        login.isLocked && limits.loginTime > .zero ? opened.advanced(by: limits.loginTime) : .distantFuture
    }

    private var idleDue: Instant {
        limits.idleTime > .zero ? used.advanced(by: limits.idleTime) : .distantFuture
    }

    enum Action: Hashable {
        case wait
        case ask
        case end(Limit)
    }

    /// The time has come to look.
    mutating func check(at now: Instant) -> Action {
        if let limit = arrival.overrun(at: now) { return .end(limit) }
        if now >= loginDue { return .end(.loginTime) }
        if now >= idleDue {
            // It is told once, however long it takes to go.
            used = .distantFuture
            return .end(.idleTime)
        }
        return switch keepalive.check(at: now) {
        case .wait: .wait
        case .ask: .ask
        case .giveUp: .end(.keepaliveTimeout)
        }
    }

    /// Something was asked, or what was asked before is still being done.
    mutating func isUsed(at now: Instant) { if used < .distantFuture { used = now } }

    // MARK: floods

    mutating func admitsPing(at now: Instant) -> Bool { pings.admits(at: now) }

    /// A cancellation found nothing to cancel. Whether that is still a coincidence.
    mutating func admitsUnknownCancel(at now: Instant) -> Bool {
        guard expectedCancels == 0 else {
            expectedCancels -= 1
            return true
        }
        return unknownCancels.admits(at: now)
    }

    mutating func requestEnded() { expectedCancels = min(expectedCancels + 1, 65_536) }

    /// What happened, with the limit's name and what it stands at.
    func explanation(of limit: Limit) -> String { limits.overrun(of: limit) }
}

extension Instant {
    fileprivate func roundedUp(to grain: Duration) -> Instant {
        guard self < .distantFuture, grain > .zero else { return self }
        let step = grain.nanoseconds
        let rest = nanoseconds % step
        return rest <= 0 ? self : advanced(by: .nanoseconds(step - rest))
    }
}
