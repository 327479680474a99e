// A subject that is there for as long as somebody holds it.

package import RPCSockets
package import RPCWire

/// Calls and posts come in, and go to the object while they hold it. So does a session, from its first call on.
struct CountedSubject<Service: Sendable>: AwaitingSubject {
    let counted: CountedObject<Service>

    var arrived: (any Subject<Service>)? { counted.state.withLock { $0.object?.subject } }

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        joinSession()
        let object = try await counted.object()
        defer { counted.leave() }
        return try await object.call(method, arguments)
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        joinSession()
        let isTaken = counted.post(now: { $0.post(post, arguments, now: now) }, later: { post.kept(arguments) })
        guard !isTaken else { return }
        DroppedPosts.add(
            post.signature, because: "\(counted.maximumKeptPosts) posts wait for the object already (maximumKeptPosts)")
    }

    func supports(_ method: MethodSignature) async throws -> Bool {
        joinSession()
        let object = try await counted.object()
        defer { counted.leave() }
        return try await object.supports(method)
    }

    /// Whoever holds it exclusively is one of its holders.
    func hold(for lease: Duration) async throws -> Hold {
        joinSession()
        let object = try await counted.object()
        do {
            let hold = try await object.hold(for: lease)
            return Hold(hold.right) { [counted] in
                hold.release()
                counted.leave()
            }
        } catch {
            counted.leave()
            throw error
        }
    }

    /// What is called through a handle is held by the handle, whoever it is done for.
    private func joinSession() {
        guard let scope = CallScope.current, let caller = scope.caller else { return }
        let isThroughHandle = scope.rights.contains { right in
            guard case .handle(let object) = right else { return false }
            return object == ObjectIdentifier(counted)
        }
        if !isThroughHandle { counted.join(caller) }
    }
}

extension ServiceProxy {
    /// A proxy for an object that exists while somebody holds it: made for the first holder, and let go when the last
    /// one has left; made again for the next.
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
    ///   - maximumKeptPosts: how many posts are kept while there is no object; those that come then are not delivered.
    ///   - make: makes the object. Runs on its own: no holder's deadline or cancellation reaches it.
    ///   - whenLast: gets the object when nobody holds it any more. The next one is made when this has returned.
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
        Self(
            subject: CountedSubject(
                counted: CountedObject(
                    methodTable.service.name, timeout: timeout, maximumKeptPosts: maximumKeptPosts, clock: clock,
                    executor: executor,
                    make: {
                        let made = try await make()
                        return .init(subject(of: made), made: made)
                    }, whenLast: whenLast)))
    }
}
