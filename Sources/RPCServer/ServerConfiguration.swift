// The settings of a server: its limits, its tokens, and its log.

import RPCSockets
import RPCWire
public import RemoteProxy

extension RPCServer {
    /// The settings of a server. All have defaults. Settings for operators are options of `ServerCommand` as well.
    public struct Configuration: Sendable {
        /// The limits on numbers, bytes and times.
        public var limits = Limits()
        /// How many threads serve connections. A connection stays on one.
        public var threads = 1
        /// The tokens of the callers. With nil every peer that can connect may call. Otherwise a peer has to show a token
        /// before it can call anything. A peer on a Unix-domain socket needs none, since the system names its user.
        /// `RPCServer.reload(tokens:)` replaces the list while the server runs.
        public var tokens: TokenList?
        /// How the server speaks TLS. Nil speaks none.
        public var tls: TLS?
        /// Whether to listen on addresses that other machines can reach although calls are not safe there: without ``tls``, where
        /// others can read and change them, or with neither ``tokens`` nor certificates of the clients, where everyone may call.
        public var allowsOtherMachines = false
        /// The time of a whole call to a caller: waiting for its connection, the way there, the work, and the way back.
        /// `withCallTimeout` and the deadline of a call being served shorten it.
        public var timeout: Duration = .seconds(30)
        /// Whether calls to a caller that has lost its connection wait for the next one, until their deadline. With false, a
        /// call that has not been sent ends at once, with `.unavailable`, the outcome `.notExecuted` and the reason. A call
        /// that was sent still waits for its answer, since the session may go on. Posts always wait.
        public var waitsForConnection = true
        /// The name that `rpc.discover` gives for the program. Nil is the name of its executable. `ServerCommand` sets it to
        /// the name in the command line.
        public var programName: String?
        /// The version that `rpc.discover` gives for the program. Nil is this library's. `ServerCommand` sets it to what
        /// `--version` prints.
        public var programVersion: String?
        /// Called with each event that no caller learns of. The default writes a line to standard error.
        public var log: @Sendable (LogRecord) -> Void = LogRecord.standardError
        /// Whether `log` gets each message too, sent or received, as a record of the level `.debug`. The variable `RPC_TRACE=1`
        /// in the environment of the process does the same. A record has the first 1,024 bytes of the message, without tokens
        /// and names of sessions: without every member named `token` or `session`, and without what is nested deeper than 16
        /// levels. All other arguments and results are shown. The log
        /// is called under a lock then, so it must return at once and not call the server's peers.
        public var tracesMessages = false

        /// All defaults.
        public init() {}
    }
}
