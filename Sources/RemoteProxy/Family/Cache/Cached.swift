// The cached proxy, and what a program can ask of it.

extension ServiceProxy {
    /// A proxy that answers at once with what was seen last time and fetches anew behind the caller, for the next time.
    ///
    /// The first call of a method with certain arguments goes through; calls made meanwhile wait for the same answer.
    /// Later calls get what was seen, however long the real object takes and whether it can be reached or not, until
    /// that is older than the policy allows. A failure never takes the place of a result. What is fetched is fetched
    /// once for all that ask, with a time limit of its own and on behalf of the caller that caused it: put a guard
    /// around the cache, not into it. Calls made inside `exclusively` go through to the object.
    ///
    /// Two calls ask for the same if all their arguments are equal: by `==` where their types are `Hashable`, and else
    /// by the JSON that they would travel as, which takes longer. Nothing is put into JSON besides, but for a file.
    ///
    /// - Parameters:
    ///   - place: `.memory` or `.file(path)`. A file is read when the proxy is made; calls wait until it has been.
    ///   - methods: The methods to cache. Nil means all that are marked `@ReadOnly`.
    ///   - policy: How long results are shown, and how many are kept.
    public func cached(
        in place: CachePlace, methods: [MethodName]? = nil, _ policy: CachePolicy = CachePolicy()
    ) -> Self {
        cached(in: place, methods: methods, policy, .system)
    }

    func cached(
        in place: CachePlace, methods: [MethodName]?, _ policy: CachePolicy, _ environment: CacheEnvironment
    ) -> Self {
        let calls = Self.methodTable.signatures.filter { $0.shape == .call }
        let names = methods?.map(\.name) ?? calls.filter { $0.effect == .reads }.map(\.name)
        let service = Self.methodTable.service.name
        if names.isEmpty {
            policy.log("nothing of \(service) is cached: mark what may be @ReadOnly, or name it in methods:")
        }
        for name in names where !calls.contains(where: { $0.name == name }) {
            policy.log("\(service).\(name) cannot be cached: only a method with a result can")
        }
        let store = CacheStore(place, service, names, policy, environment)
        return Self(subject: CachingSubject(next: proxySubject, store: store))
    }

    /// What becomes of a cached result from now on: each one that comes from the real object, and each failure to get
    /// one. Ends with the cache.
    ///
    /// ```swift
    /// show(try await feed.load())
    /// for await update in try feed.updates(of: FeedProxy.Methods.load) { show(update.value) }
    /// ```
    ///
    /// A reader that does not keep up misses the oldest updates, never the newest. Put the cache around what is lazy, counted or
    /// late-bound: inside, it is found only while the object is there; inside `failover` it is not.
    /// - Throws: `RPCError` with the code `.unimplemented` when the method is not cached.
    public func updates<Result>(
        of method: Method<ProxiedService, NoArguments, Result>
    ) throws -> AsyncStream<CacheUpdate<Result>> {
        try updates(of: method, NoArguments())
    }

    /// The same for one of the results of a method with arguments.
    /// - Throws: `RPCError` with the code `.unimplemented` when the method is not cached.
    public func updates<Arguments, Result>(
        of method: Method<ProxiedService, Arguments, Result>, _ arguments: Arguments
    ) throws -> AsyncStream<CacheUpdate<Result>> {
        guard let cache = proxySubject.layer(CachingSubject<ProxiedService>.self) else {
            throw RPCError(
                .unimplemented,
                "this proxy has no cache, or has it where it is not found: inside failover, or inside an object that has "
                    + "not been made or bound yet; put .cached(in:) around those",
                outcome: .notExecuted)
        }
        guard let number = cache.store.methods.firstIndex(of: method.signature.name) else {
            throw RPCError(
                .unimplemented,
                "\(method.signature.wireName) is not cached by this proxy; name it in .cached(in:methods:) or mark it @ReadOnly",
                outcome: .notExecuted)
        }
        let (stream, continuation) = AsyncStream.makeStream(
            of: CacheUpdate<Result>.self, bufferingPolicy: .bufferingNewest(64))
        let key = CacheKey(number, arguments)
        let end = cache.store.listen(to: key) { result, failure in
            guard let result else { return continuation.finish() }
            guard let value = (result as? KnownResult<Arguments, Result>)?.value else { return }
            continuation.yield(failure.map { .stale(value, $0) } ?? .refreshed(value))
        }
        continuation.onTermination = { _ in end() }
        return stream
    }

    /// Returns when all that the cache has seen until now is in its file. Worth waiting for before a short-lived program
    /// ends; otherwise the file is written by itself, soon after each change. The cache is found where `updates(of:)`
    /// finds it.
    /// - Returns: False when the file could not be written, which the log explains.
    @discardableResult
    public func saveCache() async -> Bool {
        await proxySubject.layer(CachingSubject<ProxiedService>.self)?.store.save() ?? true
    }
}

/// What became of fetching a result.
public enum CacheUpdate<Result: Sendable>: Sendable {
    /// It has come from the real object, and is what callers get from now on.
    case refreshed(Result)
    /// It could not be fetched, for this reason; callers go on getting the one they have seen.
    case stale(Result, any Error)

    /// What callers get now.
    public var value: Result {
        switch self {
        case .refreshed(let value), .stale(let value, _): value
        }
    }
}
