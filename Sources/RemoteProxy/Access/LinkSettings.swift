// The limits and times of one end of a conversation.

package import RPCSockets
import RPCWire

/// What the owner of an end allows. One value serves all connections of a server, or one client.
package struct LinkSettings: Sendable {
    /// What the other end may do.
    package var limits = Limits()
    /// The tokens that let the other end in; nil lets every end in. Behind a lock, because the list of a running server can be
    /// replaced.
    package var tokens = Lock<TokenList?>(nil)
    /// What this end shows when it is asked for its identity.
    package var token: Token?
    /// Counts what the other ends do; nil if that is not counted.
    package var traffic: Traffic?
    package var timeout: Duration = .seconds(30)
    /// How long an end that dials asks its server to keep the session; nil for as long as the server usually does.
    package var sessionGrace: Duration?
    /// Whether calls wait for a connection while none can be made.
    package var waitsForConnection = true
    /// Whether an end that dials says hello.
    package var saysHello = true
    /// Proxies for the objects of an end without a connection, in tests.
    package var standIns: [any Sendable] = []
    /// Gets each message, in both directions; nil for nothing. Messages that leave are told under a lock, so it must not call.
    package private(set) var trace: (@Sendable (LogRecord) -> Void)?

    package init() {}

    private static let isTracedByEnvironment = ProcessEnvironment["RPC_TRACE"] == "1"

    /// Traces all messages into the log, if that is wanted here or by the environment of the process.
    package mutating func traceMessages(_ isWanted: Bool, into log: @escaping @Sendable (LogRecord) -> Void) {
        if isWanted || Self.isTracedByEnvironment { trace = log }
    }
}
