// What a server is told before it starts: its limits, who may call, and where its log goes.

import RPCSockets
import RPCWire
public import RemoteProxy

extension RPCServer {
    /// The settings of a server. All have defaults. Each limit is a member too: `configuration.maximumWait` is
    /// `configuration.limits.maximumWait`. What an operator turns is an option of `ServerCommand` as well.
    @dynamicMemberLookup
    public struct Configuration: Sendable {
        /// How many, how much and how long.
        public var limits = Limits()
        /// How many threads serve connections. A connection stays on one.
        public var threads = 1
        /// The tokens of those who may call. Nil lets in everybody who can connect. Otherwise a peer has to show one before it
        /// can call anything, except on a Unix-domain socket, where the system names its user. `RPCServer.reload(tokens:)`
        /// replaces the list of a server that runs.
        public var tokens: TokenList?
        /// Whether to listen on addresses that other machines can reach although there are no tokens.
        public var allowsOtherMachines = false
        /// What `rpc.discover` calls the program. Nil is the name of its executable. `ServerCommand` sets it to that of the
        /// command line.
        public var programName: String?
        /// The version that `rpc.discover` gives for the program. Nil is `unspecified`. `ServerCommand` sets it to what
        /// `--version` prints.
        public var programVersion: String?
        /// Told, in a line of text, what no caller gets to hear. The default writes it to standard error.
        public var log: @Sendable (String) -> Void = LogStream.log

        /// All defaults.
        public init() {}

        /// A limit.
        public subscript<Value>(dynamicMember limit: WritableKeyPath<Limits, Value>) -> Value {
            get { limits[keyPath: limit] }
            set { limits[keyPath: limit] = newValue }
        }
    }
}
