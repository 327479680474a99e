// The lazy virtual proxy: its object is made when it is first wanted.

import RPCSockets
package import RPCWire

extension ServiceProxy {
    /// A proxy whose object is made by the first call or post.
    ///
    /// ```swift
    /// server.export(LedgerProxy.lazy { try await Ledger.open(path) })
    /// ```
    ///
    /// The object is made once, however many call first. They wait, each until its own deadline or the timeout, and then
    /// throw `RPCError` with the code `.deadlineExceeded`, `.notExecuted`. Posts are kept and are delivered in order
    /// before any call that came after them.
    ///
    /// When the object cannot be made, all that wait get an `RPCError`, `.notExecuted`: the one that `make` threw, or one
    /// with the code `.unavailable` and what it threw as `underlying`. Posts are kept, and the next call or post tries
    /// again.
    ///
    /// Making is a task of its own, without deadline: it is not cancelled when a caller is, and goes on when all callers
    /// have given up, for the next one. The object lives as long as the proxy, or until it has been idle.
    ///
    /// - Parameters:
    ///   - keepingAlive: How long the object is kept without a call in it. After that it is let go, and the next call
    ///     has it made again. Nil keeps it as long as the proxy.
    ///   - timeout: How long a call may wait for the object if its deadline is not earlier.
    ///   - limit: How many posts are kept. Further ones are dropped and counted in `refusedPosts`.
    ///   - make: Makes the object. May itself return a proxy.
    public static func lazy(
        keepingAlive: Duration? = nil, timeout: Duration = .seconds(30), limit: Int = 1_000,
        _ make: @escaping @Sendable () async throws -> ProxiedService
    ) -> Self {
        lazy(keepingAlive: keepingAlive, timeout: timeout, limit: limit, on: EventLoop.shared, make)
    }

    package static func lazy(
        keepingAlive: Duration? = nil, timeout: Duration = .seconds(30), limit: Int = 1_000, on loop: any Loop,
        executor: (any TaskExecutor)? = nil, _ make: @escaping @Sendable () async throws -> ProxiedService
    ) -> Self {
        let kind = LateSubject<ProxiedService>.Kind(
            service: methodTable.service.name, timeout: timeout, limit: limit, keepingAlive: keepingAlive)
        return Self(
            subject: LateSubject(kind, on: loop, executor: executor) {
                LateObject(subject: subject(of: try await make()))
            })
    }
}
