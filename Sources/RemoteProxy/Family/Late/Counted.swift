// The counted proxy: its object exists while a session, a handle or a call holds it.

import RPCSockets
package import RPCWire

extension ServiceProxy {
    /// Makes a proxy for an object that exists while it is held. The object is made for the first holder, let go after the last
    /// one has left, and made again for the next.
    ///
    /// ```swift
    /// server.export(RoomProxy.counted { Room() } whenLast: { room in print("the room is empty") })
    /// ```
    ///
    /// A session holds the object from its first call or post until the session is over. A `handle()` holds it until its
    /// last copy is gone. A call made in this process without a handle holds it while the call runs. Calls wait for the
    /// object within their deadlines; posts are kept in order.
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

    /// Returns a holder of the object of this `.counted` proxy: the same proxy, which keeps the object until its last copy is
    /// gone. The object is made now if it does not exist. A proxy that is not counted returns itself. So does one that is
    /// counted inside `failover`, or inside an object that has not been made or bound yet.
    public func handle() -> Self {
        for case let late as LateSubject<ProxiedService> in proxySubject.layers where late.kind.isCounted {
            let handle = CountedHandle(late)
            // The scope of a call must say that the handle holds the object, and not the caller's session.
            return Self(
                subject: ScopedSubject(next: proxySubject, includesPosts: true) { scope in
                    guard var scope, scope.caller != nil else { return nil }
                    scope.rights.append(HandleRight(object: ObjectIdentifier(handle.counted)))
                    return scope
                })
        }
        return self
    }
}

/// A holder of a counted object, until it is released.
private final class CountedHandle<Service: Sendable>: Sendable {
    let counted: LateSubject<Service>

    init(_ counted: LateSubject<Service>) {
        self.counted = counted
        counted.join()
    }

    deinit { counted.leave() }
}

/// Marks a task that calls through a handle on the counted object.
struct HandleRight: Right {
    let object: ObjectIdentifier
}
