// What a server has seen so far, for its monitoring.

import RPCWire
import RemoteProxy

extension RPCServer {
    /// What a server has seen since it was made. A copy: it does not change any more.
    public struct Counters: Sendable, Hashable {
        /// How many connections there are now.
        public var connections = 0
        /// Connections that were accepted and not refused for a limit.
        public var accepted = 0
        /// Requests that are being served now.
        public var running = 0
        /// How many bytes came with them and are kept for them, but for a few kilobytes of each connection.
        public var bytesInFlight = 0
        /// Requests that were begun, posts among them.
        public var calls = 0
        /// Logins with a token that is known.
        public var logins = 0
        /// Logins with a token that is not known.
        public var failedLogins = 0
        /// How often an object has kept a thread for so long that another went on in its place.
        public var takeovers = 0
        /// How often each limit was run into, by its name in `Limits`: connections that were closed, requests that were
        /// refused, log lines that were left out.
        public var overruns: [String: Int] = [:]
    }

    /// What has happened so far. Cheap enough to be asked every second.
    public var counters: Counters { driver.counters }
}

extension ServerDriver {
    var counters: RPCServer.Counters {
        let rare = traffic.rareEvents
        return RPCServer.Counters(
            connections: connectionCount, accepted: rare.accepted, running: traffic.running,
            bytesInFlight: traffic.bytes, calls: traffic.calls, logins: rare.loggedIn, failedLogins: rare.failedLogins,
            takeovers: rare.takeovers,
            overruns: Dictionary(uniqueKeysWithValues: rare.overruns.map { ($0.key.rawValue, $0.value) }))
    }
}
