// When to ping the other end, and when to give it up. Pure: arrivals and times go in, what to do comes out.
//
// Any byte proves that the other end is there, so a busy connection is never pinged. An idle one is pinged once per interval:
// one end pings later than the other, so the ping of the earlier end makes its own needless.

package import RPCWire

/// How an end finds out that the other one no longer answers.
public struct Keepalive: Sendable, Hashable {
    /// How long the other end may be silent before it is pinged. Zero never pings. A server disconnects a client that sends more
    /// than a hundred pings in ten seconds.
    ///
    /// A client tells its server this time, and the server pings it no sooner. With zero at the client, the client never pings. The
    /// server pings it after the longest time for which it keeps a session, ten minutes by default. Between pings only the system
    /// watches the connection. With zero at the server, the server never pings.
    public var interval: Duration
    /// How long the answer to a ping may take. After that the connection counts as lost.
    public var timeout: Duration

    /// The defaults are those of servers and clients.
    public init(interval: Duration = .seconds(15), timeout: Duration = .seconds(5)) {
        (self.interval, self.timeout) = (interval, timeout)
    }
}

/// Tells for one connection when to ping the other end, and when it has been silent for too long.
package struct PingTimer: Sendable {
    /// In nanoseconds, which are half as large as durations: there may be ten thousand connections.
    private var interval: Int64
    private let timeout: Int64
    package private(set) var heard: Instant
    /// When the ping was sent that has no answer yet; nil if there is none.
    private var asked: Instant?
    private var isOn = false

    /// - Parameters:
    ///   - interval: how long silence may last before a ping; zero never pings.
    ///   - timeout: how long the answer may take.
    ///   - isSecond: whether to let the other end ping first. Then this end pings later and leaves less time for the answer, so
    ///     that it gives the other end up as soon as otherwise.
    package init(interval: Duration, timeout: Duration, isSecond: Bool = false, at now: Instant) {
        let delay = isSecond && interval > .zero ? min(interval, timeout).nanoseconds / 4 : 0
        // Halved, so that the delay can be added; half of the longest time is still for ever.
        self.interval = min(interval.nanoseconds, .max / 2) + delay
        self.timeout = timeout.nanoseconds - delay
        heard = now
    }

    /// Begins to watch. Called when the other end has turned out to answer pings.
    /// - Parameter wanted: how long the other end wants to be silent before it is pinged, zero for ever; nil if it has not said.
    ///   It is pinged a little later, because it may ping by itself then.
    package mutating func begin(at now: Instant, wanted: Duration? = nil) {
        isOn = interval > 0 && wanted != .zero
        if isOn, let wanted = wanted?.nanoseconds {
            interval = max(interval, min(wanted, .max / 2) + min(wanted, timeout) / 4)
        }
        heardPeer(at: now)
    }

    /// Notes that bytes came, or that none could come because this end was not reading.
    /// - Returns: whether a ping was unanswered. Then the next check may be due sooner than `due` said before.
    @discardableResult
    package mutating func heardPeer(at now: Instant) -> Bool {
        heard = now
        guard asked != nil else { return false }
        asked = nil
        return true
    }

    /// When to check next.
    package var due: Instant {
        if let asked { return asked.advanced(byNanoseconds: timeout) }
        return isOn ? heard.advanced(byNanoseconds: interval) : .distantFuture
    }

    /// What is known of the other end when a caller of `connect` needs the connection now.
    package enum Presence: Sendable, Hashable {
        /// It was heard a short time ago.
        case heard
        /// Send a ping. Its answer has half of the usual time, so that as much is left to connect anew.
        case ask
        /// A ping has been sent that has no answer yet.
        case asked
    }

    /// Whether the other end is there. It is asked if it has been silent for longer than the interval, also where this end sends
    /// no other pings. Then the time for the answer counts in place of the interval.
    package mutating func probe(at now: Instant) -> Presence {
        guard heard.nanoseconds(to: now) >= (interval > 0 ? interval : timeout) else { return .heard }
        let start = now.advanced(byNanoseconds: -timeout / 2)
        if let asked, now < asked.advanced(byNanoseconds: timeout) {
            self.asked = min(asked, start)
            return .asked
        }
        asked = start
        return .ask
    }

    /// What to do now. Called when a check may be due.
    package mutating func check(at now: Instant) -> Gate.Action {
        let due = due
        guard now >= due else { return .wait }
        // A check that comes far too late means that this end stood still. Then the answer may be there, waiting to be read.
        if asked == nil || now >= due.advanced(by: .nanoseconds(timeout)) {
            asked = now
            return .ask
        }
        return .end(.keepaliveTimeout)
    }
}
