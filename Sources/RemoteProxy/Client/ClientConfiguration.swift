// The settings of a client: times, limits, framing, token, TLS and log.

import RPCSockets
import RPCWire

extension RPCClient {
    /// The settings of a client. All have defaults.
    public struct Configuration: Sendable {
        /// What kind of program the server is. There may be more kinds later.
        #if hasAttribute(nonexhaustive)
            @nonexhaustive
        #endif
        public enum Peer: Sendable, Hashable {
            /// One made with this library. The two greet each other, so that calls and posts survive the loss of a connection.
            case remoteProxy
            /// Any JSON-RPC server, with its way to mark the end of a message.
            ///
            /// Calls go out as soon as there is a connection. There is no session: a call that was sent ends with
            /// `.connectionLost` and the outcome `.unknown` if its connection is lost. Posts are not sent again, and the server
            /// is told nothing of timeouts. With a ``token`` the client greets such a server too, since only the greeting shows
            /// it.
            case jsonRPC(Framing)
        }

        /// How the end of a message is marked on a connection. There may be more framings later.
        #if hasAttribute(nonexhaustive)
            @nonexhaustive
        #endif
        public enum Framing: Sendable, Hashable {
            /// A 4-byte length before each message.
            case lengthPrefixed
            /// One message per line.
            case lines
            /// `Content-Length` headers, as language servers use them.
            case headers
        }

        /// How a client speaks TLS. There is no way not to check a server.
        public struct TLS: Sendable, Hashable {
            /// Which servers are trusted. There may be more ways later.
            #if hasAttribute(nonexhaustive)
                @nonexhaustive
            #endif
            public enum Trust: Sendable, Hashable {
                /// A server whose certificate has the name or address that was dialled, and was signed by an authority that the
                /// system trusts. The variables `SSL_CERT_FILE` and `SSL_CERT_DIR` of the environment name other authorities.
                case system
                /// The same, with the authorities in this file in PEM instead.
                case file(String)
                /// A server that has the key with this pin, under any name: `sha256:` and the 64 hexadecimal
                /// digits that `rpc-server --tls-self-signed` prints. It is the SHA-256 of the key's SubjectPublicKeyInfo.
                case pin(String)
            }

            /// Which servers are trusted. A pin in the address counts more.
            public var trust = Trust.system
            /// What the client shows to a server that asks for a certificate. Nil shows nothing.
            public var certificate: TLSCertificate?

            /// Trusts what the system trusts, and shows nothing.
            public init() {}
        }

        /// The time of a whole call: waiting for a connection, the way there, the work, and the way back. `withCallTimeout` and the
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
        /// The waits between two attempts to connect.
        public var reconnect = Backoff(initial: .milliseconds(100), maximum: .seconds(10))
        /// How long a client that is closed or released goes on sending its pending posts. Posts that are not acknowledged by
        /// then are lost, with a line in the log. With zero they are lost at once. A child process has as long to end when its
        /// input has ended, before it gets SIGTERM.
        public var postGrace: Duration = .seconds(2)
        /// How long the server keeps the session when the client has no connection. After that, calls that were sent end with
        /// `.connectionLost` and the outcome `.unknown`. Nil leaves it to the server: `Limits.sessionGrace`, a minute by default.
        /// A server keeps no session longer than `Limits.maximumSessionGrace`, ten minutes by default.
        public var sessionGrace: Duration?
        /// The most bytes that one message may have, either way.
        public var maximumFrameSize: Int {
            get { limits.maximumFrameSize }
            set { limits.maximumFrameSize = newValue }
        }
        /// How many objects each end may have of the other by reference, in one session. 10,000. A call beyond that fails with
        /// `.busy`.
        public var maximumReferences: Int {
            get { limits.maximumReferences }
            set { limits.maximumReferences = newValue }
        }
        /// What kind of program the server is.
        public var peer: Peer = .remoteProxy
        /// Whether the client greets the server, in place of what the kind says. Only tests change it.
        package var saysHello: Bool?
        /// The token for a server that asks for one. A server that does not know it answers every call with
        /// `.unauthenticated`.
        public var token: Token?
        /// Which servers the client trusts, and what it shows to them. Only for addresses that begin with `tls://`.
        public var tls = TLS()
        /// When a silent server is pinged, and when its connection counts as lost.
        public var keepalive: Keepalive {
            get { limits.keepalive }
            set { limits.keepalive = newValue }
        }
        /// What the server may do. The rest are constants, which only tests change.
        package var limits = Limits()
        /// Called with each event that no caller learns of, such as ignored messages and posts that could not be sent. The
        /// default writes a line to standard error.
        public var log: @Sendable (LogRecord) -> Void = LogRecord.standardError
        /// Whether ``log`` gets each message too, sent or received, as a record of the level `.debug`. The variable `RPC_TRACE=1`
        /// in the environment of the process does the same. A record has the first 1,024 bytes of the message, without tokens
        /// and names of sessions: without every member named `token` or `session`, and without what is nested deeper than 16
        /// levels. All other arguments and results are shown. The log is
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
        (settings.waitsForConnection, settings.sessionGrace) = (waitsForConnection, sessionGrace)
        settings.limits = limits
        settings.token = token
        settings.traceMessages(tracesMessages, into: log)
        settings.saysHello = saysHello ?? (peer == .remoteProxy || token != nil)
        return settings
    }

    var framing: RPCWire.Framing {
        switch peer {
        case .remoteProxy, .jsonRPC(.lengthPrefixed): .lengthPrefixed
        case .jsonRPC(.lines): .lines
        case .jsonRPC(.headers): .headers
        }
    }
}
