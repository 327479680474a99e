// Clients in the process of their server. What they say goes through memory, on the loop that all clients share.

import RPCSockets
public import RemoteProxy

extension Transport {
    /// The way to a server in this process, without a socket. It is also the way to test a service with all that a connection
    /// does to its calls:
    ///
    /// ```swift
    /// @Test func `only tellers may audit`() async throws {
    ///     let server = RPCServer()
    ///     server.export(LedgerProxy(Book()).guarded(by: .readOnly.or(.role("teller"))))
    ///     let ann = RPCClient(.inProcess(server, as: Identity(name: "ann", roles: ["teller"])))
    ///     try await LedgerProxy(ann).audit()
    ///     await #expect(throws: RPCError.self) { try await LedgerProxy(RPCClient(.inProcess(server))).audit() }
    /// }
    /// ```
    ///
    /// The server need not listen anywhere. Messages, limits, counters, errors and sessions are those of a socket, and
    /// `Caller.address` is `in process`. All of it runs on one thread, that of `RPCClient.executor`, one piece after another. So
    /// the order depends on no other thread. An object that blocks this thread for long is helped as on a thread of the server. Only
    /// `Limits.maximumBlockedThreads` and `RPCServer.Counters.threadTakeovers` do not count that.
    ///
    /// Clients keep the server alive, until their posts have run. So an object of the server that has such a client closes it, or
    /// both stay. After `RPCServer.stop` new calls fail at once, with `.unavailable` and the outcome `.notExecuted`. So they do
    /// if a proxy was refused at `export` before the server had any connection.
    /// - Parameters:
    ///   - server: the server.
    ///   - identity: what the server takes the client for, without a token. `RPCServer.reload(tokens:)` leaves it as it is. With
    ///     nil, the client has to show its token if the server has a list of tokens.
    public static func inProcess(_ server: RPCServer, as identity: Identity? = nil) -> Transport {
        Transport { configuration in
            let loop = EventLoop.shared
            return Dialer(loop: loop, handoff: loop) { done in
                let isWanted = Lock(true)
                loop.submit {
                    if isWanted.withLock({ $0 }) { done(server.connect(as: identity, configuration.limits.output)) }
                }
                return { isWanted.withLock { $0 = false } }
            }
        }
    }
}
