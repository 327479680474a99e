// The lazy virtual proxy: its object is made when it is first needed.

import RPCSockets
package import RPCWire

extension ServiceProxy {
    /// Makes a proxy whose object is made by the first call or post.
    ///
    /// ```swift
    /// server.export(LedgerProxy.lazy { try await Ledger.open(path) })
    /// ```
    ///
    /// The object is made once, however many calls need it at first. Each waits until its deadline or the timeout. Then it
    /// throws `RPCError` with the code `.deadlineExceeded`, `.notExecuted`. Posts are kept. They are delivered in order,
    /// before any later call.
    ///
    /// If the object cannot be made, all waiting calls throw an `RPCError` with the outcome `.notExecuted`. It is the one
    /// that `make` threw, or one with the code `.unavailable` and the thrown error as `underlying`. Posts stay kept. The
    /// next call or post causes another attempt.
    ///
    /// The object is made in a task of its own, without a deadline. Cancelling a caller does not cancel it, and it
    /// continues for later calls. The object lives as long as the proxy, or until it has been unused for `keepingAlive`.
    ///
    /// - Parameters:
    ///   - keepingAlive: How long the object is kept without a call. Then it is let go, and the next call causes a new
    ///     one to be made. Nil keeps it as long as the proxy.
    ///   - timeout: How long a call may wait for the object if its deadline is not earlier.
    ///   - maximumKeptPosts: How many posts are kept. Further ones are dropped, with a line in the log.
    ///   - make: Makes the object. May itself return a proxy.
    public static func lazy(
        keepingAlive: Duration? = nil, timeout: Duration = .seconds(30), maximumKeptPosts: Int = 1_000,
        _ make: @escaping @Sendable () async throws -> ProxiedService
    ) -> Self {
        lazy(
            keepingAlive: keepingAlive, timeout: timeout, maximumKeptPosts: maximumKeptPosts, on: EventLoop.shared, make
        )
    }

    package static func lazy(
        keepingAlive: Duration? = nil, timeout: Duration = .seconds(30), maximumKeptPosts: Int = 1_000,
        on loop: any Loop,
        executor: (any TaskExecutor)? = nil, _ make: @escaping @Sendable () async throws -> ProxiedService
    ) -> Self {
        let kind = LateSubject<ProxiedService>.Kind(
            service: _methodTable.service.name, timeout: timeout, limit: maximumKeptPosts, keepingAlive: keepingAlive)
        return Self(
            subject: LateSubject(kind, on: loop, executor: executor) {
                LateObject(subject: subject(of: try await make()))
            })
    }
}
