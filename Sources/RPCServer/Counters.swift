// The counters of a server, for monitoring.

import RPCWire
import RemoteProxy

extension RPCServer {
    /// What a server has counted since it was made. A copy, which does not change any more.
    public struct Counters: Sendable, Hashable {
        /// How many connections there are now.
        public var connections = 0
        /// Connections that were accepted, without those refused because of a limit.
        public var accepted = 0
        /// Requests that are being served now.
        public var running = 0
        /// The bytes that are kept for all peers, as `Limits.maximumBytesInAll` counts them; without the first few kilobytes of each
        /// connection.
        public var bytesKept = 0
        /// Requests that were begun, including posts.
        public var calls = 0
        /// Logins with a token that is known.
        public var logins = 0
        /// Logins with a token that is not known.
        public var failedLogins = 0
        /// How often an object has kept its thread for so long that another thread took over.
        public var takeovers = 0
        /// How often a peer has answered a call, or acknowledged a message, that it had never been sent.
        public var strays = 0
        /// How often each limit was exceeded, by its name in `Limits`. Each closed connection, refused request and omitted
        /// log line counts.
        public var overruns: [String: Int] = [:]
    }

    /// A copy of the counters. Cheap enough to be read every second.
    public var counters: Counters { driver.counters }
}

extension ServerDriver {
    var counters: RPCServer.Counters {
        let rare = traffic.rareEvents
        return RPCServer.Counters(
            connections: connectionCount, accepted: rare.accepted, running: traffic.running,
            bytesKept: traffic.bytes, calls: traffic.calls, logins: rare.loggedIn, failedLogins: rare.failedLogins,
            takeovers: rare.takeovers, strays: rare.strays,
            overruns: Dictionary(uniqueKeysWithValues: rare.overruns.map { ($0.key.rawValue, $0.value) }))
    }
}
