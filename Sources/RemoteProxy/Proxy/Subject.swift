// The seam of the whole proxy family: what a proxy forwards to.

/// What a proxy forwards to: an object that is here, one at the other end of a connection, or another subject with
/// something done before, after or instead.
///
/// Two functions are the whole of it; a subject around another is a `WrappingSubject`, and needs only what it changes.
public protocol Subject<Service>: Sendable {
    /// The service as an existential: `any Greeter`.
    associatedtype Service: Sendable

    /// Performs a call and returns its result. A subject around another hands on the very method that it was given: the object
    /// at the end tells through it whether it has begun, which is what the caller hears of a call that is stopped.
    /// - Throws: what the real object throws; `RPCError` when it could not be reached or did not answer in time;
    ///   `CancellationError` soon after the calling task is cancelled.
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result

    /// Performs a post. Returns without waiting for anybody and reports no failure.
    /// - Parameter now: Delivers the post to an object synchronously, on the actor of the caller. A subject that has
    ///   the object calls it at once; one that has not, encodes the arguments or keeps them with `post` for later.
    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void)

    /// Whether the object has the method: one at the other end of a connection may have been built before the protocol
    /// gained it. True unless a subject knows better.
    /// - Throws: `RPCError` when the other end could not be asked.
    func supports(_ method: MethodSignature) async throws -> Bool

    /// Takes the object for one caller, until the hold is released or has lasted for the lease. Waits for its turn
    /// until the deadline of the calling task.
    /// - Throws: `RPCError` with the code `.unimplemented` when there is no `.locked()` in the stack.
    func hold(for lease: Duration) async throws -> Hold

    /// The beginning of a call to an object at the other end of a connection, which the proxy then makes itself; nil from
    /// every other subject, which is asked to `call`. Not for others to answer.
    func _remoteCall(_ signature: MethodSignature) -> _RemoteCall?
}

extension Subject {
    /// True.
    public func supports(_ method: MethodSignature) async throws -> Bool { true }

    /// Throws: there is nothing to be held.
    public func hold(for lease: Duration) async throws -> Hold { throw RPCError.cannotBeHeld }

    /// Nil.
    public func _remoteCall(_ signature: MethodSignature) -> _RemoteCall? { nil }

    /// Performs a call, as `call` does. Inlined where a generated proxy calls it: what goes to the other end of a connection
    /// without anything before or after is written and awaited there, where the types are known.
    @inlinable @inline(__always)
    nonisolated(nonsending) public func _call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        guard let remote = _remoteCall(method.signature) else {
            do { return try await call(method, arguments) } catch { throw thrownByProxy(error) }
        }
        defer { extendLifetime(self) }
        return try await remote.perform(method, arguments)
    }
}

@usableFromInline @inline(never)
func thrownByProxy(_ error: any Error) -> any Error { error.thrownByProxy }

extension Subject {
    /// The outermost layer of a kind in this stack, itself included.
    func layer<Layer>(_ kind: Layer.Type) -> Layer? {
        for layer in layers { if let layer = layer as? Layer { return layer } }
        return nil
    }

    /// This subject and those inside it, for as far as they are there and there is one way to go on: it ends before an
    /// object that has yet to come, and at a choice of several. No stack is as deep as where it gives up: two late-bound
    /// proxies may have been bound to each other.
    var layers: PrefixSequence<UnfoldFirstSequence<any Subject<Service>>> {
        sequence(first: self as any Subject<Service>) { layer in
            if let layer = layer as? any WrappingSubject<Service> { return layer.next }
            return (layer as? any AwaitingSubject<Service>)?.arrived
        }.prefix(1_000)
    }
}
