// The times and limits of a client, each with its default and its effect.

package import RPCSockets
import RPCWire

extension RPCClient {
    /// The times and limits of a client. All have defaults.
    public struct Configuration: Sendable {
        /// How messages are told apart on the connection.
        public enum Framing: Sendable, Hashable {
            /// A 4-byte length before each message. For servers made with this library.
            case lengthPrefixed
            /// A message per line.
            case lines
            /// `Content-Length` headers, as language servers have them.
            case headers
        }

        /// What a call may take, all in all: waiting for a connection, the way there, the work, the way back.
        /// Shortened by `withTimeout` and by the deadline of a call being served. One of a second or more may be over some
        /// milliseconds early.
        public var timeout: Duration = .seconds(30)
        /// What one attempt to connect may take, greeting included.
        public var connectTimeout: Duration = .seconds(10)
        /// The longest wait before the first new attempt to connect; it doubles with each failure. The actual wait is
        /// a random part of it.
        public var reconnectBase: Duration = .milliseconds(100)
        /// The longest wait between two attempts.
        public var reconnectLimit: Duration = .seconds(10)
        /// How many calls may be pending before new ones are refused with `.busy`.
        public var maximumPendingCalls = 65_536
        /// How many bytes of posts may wait to be sent, or to be acknowledged by the server, before new ones are dropped
        /// with a line in the log.
        public var maximumPendingPostBytes = 32 * 1_024 * 1_024
        /// How long a client that is closed, or let go, goes on to send the posts that are pending. What
        /// is not acknowledged by then is lost, with a line in the log. Zero loses them at once.
        public var postGrace: Duration = .seconds(2)
        /// The most bytes that one message may have, either way.
        public var maximumFrameSize = 16 * 1_024 * 1_024
        /// How many calls from the server to this client's exports may run at the same time.
        public var maximumRequestsInFlight = 1_024
        /// How many bytes of arguments these calls may have come with. As long as it is less one more begins, however long it
        /// is; then more are refused with `.busy`.
        public var maximumBytesInFlight = 16 * 1_024 * 1_024
        /// How messages are framed. Choose another for a JSON-RPC server that is not made with this library.
        public var framing: Framing = .lengthPrefixed
        /// Whether each connection begins with `rpc.hello`, by which two ends made with this library find each other. Nil says it
        /// with `lengthPrefixed`, and with the other framings only if there is a `token`, since only the hello shows it.
        ///
        /// Without a hello calls go out as soon as there is a connection, and any JSON-RPC server can be called. There is no
        /// session then: a call that was sent and whose connection is lost ends with `.connectionLost` and the outcome
        /// `.unknown`, posts are not sent again, and the server is told nothing of timeouts.
        public var saysHello: Bool?
        /// What is shown to a server that wants to know who calls. A server that does not know it answers every call with
        /// `.unauthenticated`.
        public var token: Token?
        /// How long a server may be silent before it is asked whether it is there. Zero never asks. A server disconnects a
        /// client that asks more than a hundred times in ten seconds.
        public var keepaliveInterval: Duration = .seconds(15)
        /// How long it may take to answer that before its connection counts as lost.
        public var keepaliveTimeout: Duration = .seconds(5)
        /// How long a message of the server may take from its first byte to its last, and a second more for each 16 KiB,
        /// before its connection counts as lost. Zero for ever.
        public var frameTime: Duration = .seconds(30)
        /// How many bytes earn that second. A constant, variable for tests.
        package var minimumRate = 16_384
        /// How many lines are logged in ten seconds; the rest are counted.
        public var maximumLogLines = 1_000
        /// Told, in a line of text, what no caller gets to hear: ignored messages, posts that could not be sent. The default
        /// writes it to standard error.
        public var log: @Sendable (String) -> Void = LogStream.log

        /// All defaults.
        public init() {}
    }
}

extension RPCClient.Configuration {
    var peerSettings: LinkSettings {
        var settings = LinkSettings()
        settings.timeout = timeout
        settings.maximumPendingCalls = maximumPendingCalls
        settings.limits.maximumFrameSize = maximumFrameSize
        settings.limits.maximumRequestsInFlight = maximumRequestsInFlight
        settings.limits.maximumBytesInFlight = maximumBytesInFlight
        settings.token = token
        settings.limits.keepaliveInterval = keepaliveInterval
        settings.limits.keepaliveTimeout = keepaliveTimeout
        settings.limits.frameTime = frameTime
        settings.limits.minimumRate = minimumRate
        settings.maximumPendingPostBytes = maximumPendingPostBytes
        settings.saysHello = saysHello ?? (framing == .lengthPrefixed || token != nil)
        return settings
    }

    /// What waits for the server are this process's own calls: their limit is maximumPendingCalls, and they wait.
    package var streamLimits: OutputLimits {
        var limits = OutputLimits()
        limits.maximum = .max
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
