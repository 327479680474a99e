// Everything that one connection is watched for, in one place: who it is, whether it comes fast enough, whether it is
// still there, whether it asks for too much. Values only; `Connection+Gate` feeds them and does what they decide.

package import RPCSockets
package import RPCWire

package struct Gate {
    /// What a connection is held to. Zero times are no limits.
    package struct Settings: Sendable {
        /// The tokens that let a peer in; nil lets everybody in. Behind a lock, because the list of a server that runs can
        /// be replaced.
        package var tokens = Lock<TokenList?>(nil)
        /// What this end shows when it is asked who it is.
        package var token: Token?
        package var loginTime: Duration = .seconds(5)
        package var loginInput = 16_384
        package var loginOutput = 4_096
        /// How long somebody who has shown a wrong token waits for the answer.
        package var loginDelay: Duration = .seconds(1)
        package var firstByteTime: Duration = .seconds(10)
        package var frameTime: Duration = .seconds(30)
        package var minimumRate = 16_384
        package var idleTime: Duration = .zero
        package var keepaliveInterval: Duration = .seconds(15)
        package var keepaliveTimeout: Duration = .seconds(5)
        package var maximumPings = 100
        package var maximumUnknownCancels = 1_000
        /// Where it is counted.
        package var traffic: Traffic?

        package init() {}
    }

    /// In which pings and cancellations are counted.
    static let window = Duration.seconds(10)

    /// One for all connections of a server.
    private let shared: Shared<Settings>
    var settings: Settings { shared.value }
    var login: Login
    var arrival: Punctuality
    var keepalive: Keepalive
    private var pings: RateLimit
    private var unknownCancels: RateLimit
    /// One for each request that has ended: its cancellation may have crossed with its answer.
    private var expectedCancels = 0
    private let opened: Instant
    private var used: Instant
    /// Due moments are put off to multiples of this, so that many connections wake the loop once.
    private let grain: Duration
    /// Where the connection stands in the rounds of its loop.
    var place: Int?
    /// Why this end gave the connection up.
    var verdict: String?
    /// Whether the connection ended because the other end stopped answering or reading.
    var isSilent = false

    /// - Parameter isAccepted: whether the other end came here; only then has it anything to prove.
    init(_ shared: Shared<Settings>, isAccepted: Bool, user: UInt32?, at now: Instant) {
        let settings = shared.value
        self.shared = shared
        login = Login(
            needsProof: isAccepted && settings.tokens.withLock { $0 } != nil,
            identity: isAccepted ? user.map { Identity(name: "uid:\($0)") } : nil,
            maximumInput: settings.loginInput, maximumOutput: settings.loginOutput)
        arrival = Punctuality(
            firstByteTime: isAccepted ? settings.firstByteTime : .zero, frameTime: settings.frameTime,
            minimumRate: settings.minimumRate, at: now)
        keepalive = Keepalive(
            interval: settings.keepaliveInterval, timeout: settings.keepaliveTimeout, isSecond: isAccepted, at: now)
        pings = RateLimit(most: settings.maximumPings, per: Self.window)
        unknownCancels = RateLimit(most: settings.maximumUnknownCancels, per: Self.window)
        (opened, used) = (now, now)
        grain = Self.grain(of: settings)
    }

    private static func grain(of settings: Settings) -> Duration {
        let times = [
            settings.loginTime, settings.firstByteTime, settings.frameTime, settings.idleTime,
            settings.keepaliveInterval, settings.keepaliveTimeout,
        ]
        let shortest = times.filter { $0 > .zero }.min() ?? .seconds(1)
        return min(max(shortest / 16, .milliseconds(1)), .seconds(1))
    }

    // MARK: time

    /// When the connection is to be looked at next, if nothing happens before.
    var due: Instant { min(arrival.due, keepalive.due, loginDue, idleDue).roundedUp(to: grain) }

    private var loginDue: Instant {
        login.isLocked && settings.loginTime > .zero ? opened.advanced(by: settings.loginTime) : .distantFuture
    }

    private var idleDue: Instant {
        settings.idleTime > .zero ? used.advanced(by: settings.idleTime) : .distantFuture
    }

    enum Action: Hashable {
        case wait
        case ask
        case end(Limit, String)
    }

    /// The time has come to look.
    mutating func check(at now: Instant) -> Action {
        if let limit = arrival.overrun(at: now) { return .end(limit, explanation(of: limit)) }
        if now >= loginDue { return .end(.loginTime, explanation(of: .loginTime)) }
        if now >= idleDue {
            // It is told once, however long it takes to go.
            used = .distantFuture
            return .end(.idleTime, explanation(of: .idleTime))
        }
        return switch keepalive.check(at: now) {
        case .wait: .wait
        case .ask: .ask
        case .giveUp: .end(.keepaliveTimeout, explanation(of: .keepaliveTimeout))
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

    // MARK: words

    /// What happened, with the limit's name and what it stands at.
    func explanation(of limit: Limit) -> String {
        let (what, value): (String, String) =
            switch limit {
            case .firstByteTime: ("nothing came", "\(settings.firstByteTime)")
            case .frameTime: ("a message did not come to its end", "\(settings.frameTime)")
            case .minimumRate: ("a message came too slowly", "\(settings.minimumRate) bytes a second")
            case .idleTime: ("nothing was asked", "\(settings.idleTime)")
            case .loginTime: ("nobody logged in", "\(settings.loginTime)")
            case .loginInput: ("too much was sent without a login", "\(settings.loginInput) bytes")
            case .loginOutput: ("too much was asked without a login", "\(settings.loginOutput) bytes of answers")
            case .keepaliveTimeout: ("a ping was not answered", "\(settings.keepaliveTimeout)")
            case .maximumPings: ("too many pings", "\(settings.maximumPings) in \(Self.window)")
            case .maximumUnknownCancels:
                ("too many cancellations of no call", "\(settings.maximumUnknownCancels) in \(Self.window)")
            default: ("a limit was overrun", "")
            }
        return "\(what): the limit is \(value) (\(limit))"
    }
}

extension Instant {
    fileprivate func roundedUp(to grain: Duration) -> Instant {
        guard self < .distantFuture, grain > .zero else { return self }
        let step = grain.nanoseconds
        let rest = nanoseconds % step
        return rest <= 0 ? self : advanced(by: .nanoseconds(step - rest))
    }
}
