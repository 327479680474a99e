// The counted proxy: its object is there while it is held, by a session, a handle or a call.

import RPCSockets
package import RPCWire

extension ServiceProxy {
    /// A proxy for an object that exists while it is held: made for the first holder, let go when the last one has left, and
    /// made again for the next.
    ///
    /// ```swift
    /// server.export(RoomProxy.counted { Room() } whenLast: { room in print("the room is empty") })
    /// ```
    ///
    /// A holder is a session, from its first call or post until it is over; a `handle()`, until its last copy is gone;
    /// or a call made here without a handle, while it runs. Calls wait until the object is there, within their
    /// deadlines; posts are kept in order. When making fails, all that wait get an `RPCError`,
    /// `.notExecuted`: the one that `make` threw, or one with the code `.unavailable` and what it threw as `underlying`;
    /// posts are dropped, and the next call has it tried again.
    ///
    /// - Parameters:
    ///   - timeout: how long a call without a deadline of its own waits for the object.
    ///   - maximumKeptPosts: how many posts are kept while there is no object; further ones are not delivered.
    ///   - make: makes the object. Runs on its own: no holder's deadline or cancellation reaches it.
    ///   - whenLast: gets the object when nothing holds it any more. The next one is made when this has returned.
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
            service: methodTable.service.name, timeout: timeout, limit: maximumKeptPosts, limitName: "maximumKeptPosts",
            keepingAlive: .zero, isCounted: true)
        return Self(
            subject: LateSubject(kind, on: clock, executor: executor) {
                let made = try await make()
                return LateObject(subject: subject(of: made)) { await whenLast(made) }
            })
    }

    /// A holder of the object that is `.counted` in this proxy: the same proxy, which keeps the object for as long as
    /// there is a copy of it. The object is made now if it is not there. A proxy that counts nothing gives itself; so
    /// does one that counts inside `failover`, or inside an object that has not been made or bound yet.
    public func handle() -> Self {
        for case let late as LateSubject<ProxiedService> in proxySubject.layers where late.kind.isCounted {
            let handle = CountedHandle(late)
            // For a caller the scope has to say that the handle holds the object, and not the caller's session.
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

/// One holder of a counted object, from its making to its end.
private final class CountedHandle<Service: Sendable>: Sendable {
    let counted: LateSubject<Service>

    init(_ counted: LateSubject<Service>) {
        self.counted = counted
        counted.join()
    }

    deinit { counted.leave() }
}

/// That the task calls through a handle on the counted object.
struct HandleRight: Right {
    let object: ObjectIdentifier
}
