// The counted proxy: its object exists while a reference, a handle or a call holds it.

import RPCSockets
package import RPCWire

extension ServiceProxy {
    /// Makes a proxy for an object that exists while it is held. The object is made for the first holder, let go after the last
    /// one has left, and made again for the next.
    ///
    /// ```swift
    /// let room = RoomProxy.counted { Room() } whenLast: { room in print("the room is empty") }
    ///
    /// func enter() async throws -> any Room { room }    // in the service that hands it out
    /// ```
    ///
    /// An end that is sent the proxy holds the object while it has a proxy for it, and no longer than its session. In this process a
    /// ``handle()`` holds it until its last copy is gone. Any other call holds it while it runs, such as one by the name of an
    /// export. Calls wait for the object within their deadlines; posts are kept in order.
    ///
    /// If the object cannot be made, all waiting calls throw an `RPCError` with the outcome `.notExecuted`. It is the one
    /// that `make` threw, or one with the code `.unavailable` and the thrown error as `underlying`. Kept posts are
    /// dropped. The next call causes another attempt.
    ///
    /// - Parameters:
    ///   - timeout: how long a call without a deadline of its own waits for the object.
    ///   - maximumKeptPosts: how many posts are kept while the object does not exist. Further posts are dropped.
    ///   - make: makes the object, in a task of its own. No holder's deadline or cancellation reaches it.
    ///   - whenLast: gets the object after its last holder has left. The next object is made after this has returned.
    public static func counted(
        timeout: Duration = .seconds(30), maximumKeptPosts: Int = 10_000,
        make: @escaping @Sendable () async throws -> ProxiedService,
        whenLast: @escaping @Sendable (ProxiedService) async -> Void = { _ in }
    ) -> Self {
        counted(
            timeout: timeout, maximumKeptPosts: maximumKeptPosts, clock: EventLoop.shared, make: make,
            whenLast: whenLast)
    }

    package static func counted(
        timeout: Duration = .seconds(30), maximumKeptPosts: Int = 10_000, clock: any Loop,
        executor: (any TaskExecutor)? = nil,
        make: @escaping @Sendable () async throws -> ProxiedService,
        whenLast: @escaping @Sendable (ProxiedService) async -> Void = { _ in }
    ) -> Self {
        let kind = LateSubject<ProxiedService>.Kind(
            service: _methodTable.service.name, timeout: timeout, limit: maximumKeptPosts,
            keepingAlive: .zero, isCounted: true)
        return Self(
            subject: LateSubject(kind, on: clock, executor: executor) {
                let made = try await make()
                return LateObject(subject: subject(of: made)) { await whenLast(made) }
            })
    }
}
