// The counters of a server, for monitoring.

import RPCSockets
import RPCWire
public import RemoteProxy

extension RPCServer {
    /// Numbers of a server: of this moment, such as ``requestsRunning``, and since it was made, such as ``requestsBegun``. A copy,
    /// which does not change any more.
    public struct Counters: Sendable {
        /// How many connections are open now.
        public let connectionsOpen: Int
        /// How many connections were accepted, without those refused because of a limit.
        public let connectionsAccepted: Int
        /// How many requests run now.
        public let requestsRunning: Int
        /// How many requests, including posts, were begun.
        public let requestsBegun: Int
        /// The bytes that are kept for all peers, as `Limits.maximumBytesInAll` counts them; without the first few kilobytes of each
        /// connection.
        public let bytesKept: Int
        /// How many handshakes of TLS have succeeded.
        public let tlsHandshakes: Int
        /// How many of them went on with an earlier session, which costs half as much.
        public let tlsResumptions: Int
        /// How many handshakes of TLS have failed. Each has a line in the log.
        public let tlsFailures: Int
        /// How many days the certificate is still valid; negative if it is not. Nil without TLS.
        public let certificateDaysLeft: Int?
        /// How many logins had a token that is known.
        public let loginsAccepted: Int
        /// How many logins had a token that is not known.
        public let loginsRefused: Int
        /// How often an object has kept its thread for so long that another thread took over.
        public let threadTakeovers: Int
        /// How often a peer has answered a call or acknowledged a message that it was never sent, or given back an object that it did
        /// not have.
        public let straysReceived: Int
        /// How many posts were dropped by the proxies around their objects: by a guard, or because too many waited.
        public let postsDropped: Int
        /// How many objects of this server its callers have by reference. An object that two callers have counts twice.
        /// ``RPCServer/referenceCounts`` says which caller has them.
        public let referencesGiven: Int
        /// How many objects of its callers this server has by reference.
        public let referencesTaken: Int
        /// How often each limit was exceeded, by its name in `Limits`. Each closed connection, refused request and omitted
        /// log line counts.
        public let overruns: [String: Int]
    }

    /// A copy of the counters. Cheap enough to be read every second; the more sessions there are, the longer it takes.
    public var counters: Counters { driver.counters }

    /// The callers that share objects with this server by reference, and how many. To find a leak. Takes time for each session and
    /// each object.
    public var referenceCounts: [Caller: ReferenceCounts] {
        var found: [Caller: ReferenceCounts] = [:]
        for link in driver.links {
            let counts = link.referenceCounts
            if !counts.isEmpty { found[Caller(link)] = counts }
        }
        return found
    }
}

extension ServerDriver {
    var counters: RPCServer.Counters {
        let (rare, objects) = (traffic.rareEvents, links.map(\.objectCounts))
        return RPCServer.Counters(
            connectionsOpen: connectionCount, connectionsAccepted: rare.accepted, requestsRunning: traffic.running,
            requestsBegun: traffic.calls, bytesKept: traffic.bytes, tlsHandshakes: rare.handshakes,
            tlsResumptions: rare.resumptions, tlsFailures: rare.failedHandshakes,
            certificateDaysLeft: tls.withLock { $0 }?.daysLeft,
            loginsAccepted: rare.loggedIn,
            loginsRefused: rare.failedLogins, threadTakeovers: rare.takeovers, straysReceived: rare.strays,
            postsDropped: rare.droppedPosts, referencesGiven: objects.reduce(0) { $0 + $1.given },
            referencesTaken: objects.reduce(0) { $0 + $1.taken },
            overruns: Dictionary(uniqueKeysWithValues: rare.overruns.map { ($0.key.rawValue, $0.value) }))
    }
}
