// Makes cached proxies, and lets a program listen to one and save it.

extension ServiceProxy {
    /// Makes a proxy that returns the last known result at once, and fetches a new one in the background for the next call.
    ///
    /// The first call of a method with certain arguments goes to the object. Calls made meanwhile wait for the same
    /// answer. Later calls get the last known result until it is older than the policy allows, even if the object is
    /// slow or cannot be reached. A failure never replaces a result. Calls made inside `exclusively` go to the object.
    ///
    /// Each result is fetched once for all calls that ask for it, with a time limit of its own. It is fetched on behalf
    /// of the caller that caused it. So put a guard around the cache, not inside it.
    ///
    /// Two calls ask for the same result if all their arguments are equal. Arguments are compared with `==` if their
    /// types are `Hashable`, and otherwise as JSON, which takes longer. Otherwise only a cache with a file encodes
    /// arguments and results. The metadata of a call makes no difference; the object gets that of the call which caused the
    /// result to be fetched.
    /// - Parameters:
    ///   - place: `.memory` or `.file(path)`. A file is read when the proxy is made. Calls wait until it has been read.
    ///   - methods: The methods to cache. Nil means all that are marked `@ReadOnly`.
    ///   - policy: How long results are returned, and how many are kept.
    public func cached(
        in place: CachePlace, methods: [MethodName]? = nil, _ policy: CachePolicy = CachePolicy()
    ) -> Self {
        cached(in: place, methods: methods, policy, .system)
    }

    func cached(
        in place: CachePlace, methods: [MethodName]?, _ policy: CachePolicy, _ environment: CacheEnvironment
    ) -> Self {
        let calls = Self.methodTable.signatures.filter { $0.shape == .call }
        let names = methods?.map(\.name) ?? calls.filter { $0.effect == .readOnly }.map(\.name)
        let service = Self.methodTable.service.name
        if names.isEmpty {
            policy.log(
                LogRecord(
                    .warning, "nothing of \(service) is cached: mark what may be @ReadOnly, or name it in methods:"))
        }
        for name in names where !calls.contains(where: { $0.name == name }) {
            policy.log(
                LogRecord(.warning, "\(service).\(name) cannot be cached: only a method with a result can"))
        }
        let store = CacheStore(place, service, names, policy, environment)
        return Self(subject: CachingSubject(next: proxySubject, store: store))
    }

    /// The updates of a cached result from now on: each new result, and each failure to fetch one. The sequence ends with
    /// the cache.
    ///
    /// ```swift
    /// show(try await feed.load())
    /// for await update in try feed.updates(of: FeedProxy.Methods.load) { show(update.value) }
    /// ```
    ///
    /// A slow reader misses the oldest updates, never the newest. Put the cache around a lazy, counted or late-bound proxy.
    /// Inside one, the cache is found only while the object exists. Inside `failover` it is never found.
    /// - Throws: `RPCError` with the code `.noSuchMethod` if no cache is found, or it does not cache the method.
    public func updates<Result: Codable>(
        of method: Method<ProxiedService, Void, Result>
    ) throws -> AsyncStream<CacheUpdate<Result>> {
        try updates(of: method, ())
    }

    /// The updates of a method with parameters, for certain arguments: `try feed.updates(of: FeedProxy.Methods.page, 2)`. Several
    /// arguments are a tuple with the names of the parameters.
    /// - Throws: `RPCError` with the code `.noSuchMethod` if no cache is found, or it does not cache the method; with
    ///   `.invalidArguments` if an argument is not equal to itself, such as NaN, or cannot be encoded.
    public func updates<Arguments, Result: Codable>(
        of method: Method<ProxiedService, Arguments, Result>, _ arguments: Arguments
    ) throws -> AsyncStream<CacheUpdate<Result>> {
        guard let cache = proxySubject.layer(CachingSubject<ProxiedService>.self) else {
            throw RPCError(
                .noSuchMethod,
                "this proxy has no cache, or has it where it is not found: inside failover, or inside an object that has "
                    + "not been made or bound yet; put .cached(in:) around those",
                outcome: .notExecuted)
        }
        guard let number = cache.store.methods.firstIndex(of: method.signature.name) else {
            throw RPCError(
                .noSuchMethod,
                "\(method.signature.wireName) is not cached by this proxy; name it in .cached(in:methods:) or mark it @ReadOnly",
                outcome: .notExecuted)
        }
        guard let key = try CacheKey(number, arguments, method.coding) else {
            throw RPCError(
                .invalidArguments,
                "no result of \(method.signature.wireName) is kept for these arguments: one is not equal to itself, such as "
                    + "NaN, or cannot be encoded", outcome: .notExecuted)
        }
        let (stream, continuation) = AsyncStream.makeStream(
            of: CacheUpdate<Result>.self, bufferingPolicy: .bufferingNewest(64))
        let end = cache.store.listen(to: key) { result, failure in
            guard let result else { return continuation.finish() }
            guard let value = (result as? KnownResult<Arguments, Result>)?.value else { return }
            continuation.yield(failure.map { .stale(value, $0) } ?? .refreshed(value))
        }
        continuation.onTermination = { _ in end() }
        return stream
    }

    /// Drops the results of a method, for all arguments. The next call fetches a new one and waits for it. Calls that wait
    /// already get what they asked for. A crash before the file is written again brings the results back at the next launch;
    /// `saveCache` waits until it is written. Does nothing where `updates(of:)` finds no cache, or if the method is not cached.
    public func invalidate(_ method: MethodName) {
        guard let store = proxySubject.layer(CachingSubject<ProxiedService>.self)?.store,
            let number = store.methods.firstIndex(of: method.name)
        else { return }
        store.drop(number)
    }

    /// Drops all results of this cache, as `invalidate` does for one method. They do not come back after a crash.
    public func invalidateAll() { proxySubject.layer(CachingSubject<ProxiedService>.self)?.store.drop(nil) }

    /// Returns when everything that the cache holds is in its file. Call it before a short-lived program ends. Otherwise
    /// there is no need: the cache writes the file soon after each change. The cache is found where `updates(of:)` finds
    /// it.
    /// - Returns: False if the file could not be written. The log says why.
    @discardableResult
    public func saveCache() async -> Bool {
        await proxySubject.layer(CachingSubject<ProxiedService>.self)?.store.save() ?? true
    }
}

/// How an attempt to fetch a result ended. There may be more ends later.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum CacheUpdate<Result: Sendable>: Sendable {
    /// The object returned a new result. Calls get it from now on.
    case refreshed(Result)
    /// No new result could be fetched, because of the error. Calls still get this older one.
    case stale(Result, any Error)

    /// The result that calls get now.
    public var value: Result {
        switch self {
        case .refreshed(let value), .stale(let value, _): value
        }
    }
}
