// The settings of a client: times, limits, framing, token and log.

package import RPCSockets
import RPCWire

extension RPCClient {
    /// The settings of a client. All have defaults.
    public struct Configuration: Sendable {
        /// How the end of a message is marked on the connection.
        public enum Framing: Sendable, Hashable {
            /// A 4-byte length before each message. For servers made with this library.
            case lengthPrefixed
            /// One message per line.
            case lines
            /// `Content-Length` headers, as language servers use them.
            case headers
        }

        /// The time of a whole call: waiting for a connection, the way there, the work, and the way back. `withTimeout` and the
        /// deadline of a call being served shorten it. A time of a second or more may end some milliseconds early.
        public var timeout: Duration = .seconds(30)
        /// The time of one attempt to connect, including the greeting.
        public var connectTimeout: Duration = .seconds(10)
        /// Whether calls wait for a connection, until their deadline, while none can be made. With false, a call that has
        /// not been sent ends when an attempt to connect fails, and at once when the last attempt has failed: with
        /// `.unavailable`, the outcome `.notExecuted` and the reason. The same happens in either case when the next attempt
        /// would fail too: the server's name does not exist, it speaks another protocol, or it refuses the token. A later call
        /// then asks for an attempt, at most one a second. Posts always wait.
        public var waitsForConnection = true
        /// The longest wait before the first new attempt to connect. It doubles with each failure. The actual wait is a
        /// random part of it.
        public var reconnectBase: Duration = .milliseconds(100)
        /// The longest wait between two attempts.
        public var reconnectLimit: Duration = .seconds(10)
        /// How many bytes the messages of pending calls may take, each with a kilobyte for what belongs to it. Beyond it new
        /// calls are refused with `.busy`. A call waits here while the server runs as many calls of this client as it may.
        public var maximumPendingCallBytes = 256 * 1_024 * 1_024
        /// How many bytes of posts may wait to be sent or acknowledged. Beyond it new posts are dropped, with a line in the
        /// log.
        public var maximumPendingPostBytes = 32 * 1_024 * 1_024
        /// How long a client that is closed or released goes on sending its pending posts. Posts that are not acknowledged by
        /// then are lost, with a line in the log. With zero they are lost at once.
        public var postGrace: Duration = .seconds(2)
        /// The most bytes that one message may have, either way.
        public var maximumFrameSize = 16 * 1_024 * 1_024
        /// How many calls from the server to this client's exports may run at the same time.
        public var maximumRequestsInFlight = 1_024
        /// How many bytes of arguments these calls may have. While they have fewer, one more call begins, however long it
        /// is. Beyond it calls are refused with `.busy`.
        public var maximumBytesInFlight = 16 * 1_024 * 1_024
        /// How messages are framed. Choose another for a JSON-RPC server that is not made with this library.
        public var framing: Framing = .lengthPrefixed
        /// Whether each connection begins with `rpc.hello`, by which two ends made with this library recognise each other. Nil
        /// means yes with `lengthPrefixed`. With the other framings it means yes only if there is a `token`, since only the
        /// hello shows it.
        ///
        /// Without a hello, calls go out as soon as there is a connection, and any JSON-RPC server can be called. But there is
        /// no session. A call that was sent ends with `.connectionLost` and the outcome `.unknown` if its connection is lost.
        /// Posts are not sent again, and the server is told nothing of timeouts.
        public var saysHello: Bool?
        /// The token for a server that asks for one. A server that does not know it answers every call with
        /// `.unauthenticated`.
        public var token: Token?
        /// How long a server may be silent before it is pinged. Zero never pings. A server disconnects a client that sends more
        /// than a hundred pings in ten seconds.
        public var keepaliveInterval: Duration = .seconds(15)
        /// How long the server may take to answer a ping before its connection counts as lost.
        public var keepaliveTimeout: Duration = .seconds(5)
        /// How long a message of the server may take from its first byte to its last. Each 16 KiB gives it a second more. After
        /// that the connection counts as lost. Zero for ever.
        public var frameTime: Duration = .seconds(30)
        /// How many bytes give that second. Only tests change it.
        package var minimumRate = 16_384
        /// How many lines are logged in ten seconds. Further lines are counted only.
        public var maximumLogLines = 1_000
        /// Called with each event that no caller learns of, such as ignored messages and posts that could not be sent. The
        /// default writes a line to standard error.
        public var log: @Sendable (LogRecord) -> Void = LogRecord.standardError
        /// Whether ``log`` gets each message too, sent or received, as a record of the level `.debug`. The variable `RPC_TRACE=1`
        /// in the environment of the process does the same. A record has the first 1,024 bytes of the message, without tokens
        /// and names of sessions: without every member named `token` or `session`, and without what is nested deeper than 16
        /// levels. All other arguments and results are shown. It does not count for ``maximumLogLines``. The log is
        /// called under a lock then, so it must return at once and not call through this client.
        public var tracesMessages = false

        /// All defaults.
        public init() {}
    }
}

extension RPCClient.Configuration {
    var linkSettings: LinkSettings {
        var settings = LinkSettings()
        settings.timeout = timeout
        settings.maximumPendingCallBytes = maximumPendingCallBytes
        settings.waitsForConnection = waitsForConnection
        settings.limits.maximumFrameSize = maximumFrameSize
        settings.limits.maximumRequestsInFlight = maximumRequestsInFlight
        settings.limits.maximumBytesInFlight = maximumBytesInFlight
        settings.token = token
        settings.limits.keepaliveInterval = keepaliveInterval
        settings.limits.keepaliveTimeout = keepaliveTimeout
        settings.limits.frameTime = frameTime
        settings.limits.minimumRate = minimumRate
        settings.maximumPendingPostBytes = maximumPendingPostBytes
        settings.traceMessages(tracesMessages, into: log)
        settings.saysHello = saysHello ?? (framing == .lengthPrefixed || token != nil)
        return settings
    }

    package var streamLimits: OutputLimits {
        var limits = OutputLimits()
        limits.keepaliveInterval = keepaliveInterval
        limits.keepaliveTimeout = keepaliveTimeout
        return limits
    }

    var wireFraming: RPCWire.Framing {
        switch framing {
        case .lengthPrefixed: .lengthPrefixed
        case .lines: .lines
        case .headers: .headers
        }
    }

    var backoff: Backoff { Backoff(base: reconnectBase, limit: reconnectLimit) }
}
