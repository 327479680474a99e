// Makes cached proxies.

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
    ///   - cache: `.memory`, `.file(path)`, or a ``Cache`` made before. A file is read when the proxy is made. Calls wait until it
    ///     has been read.
    ///   - methods: The methods to cache. Nil means all that are marked `@ReadOnly`.
    ///   - policy: How long results are returned, and how many are kept.
    public func cached(
        in cache: Cache, methods: [MethodName]? = nil, _ policy: CachePolicy = CachePolicy()
    ) -> Self {
        cached(in: cache, methods: methods, policy, .system)
    }

    func cached(
        in cache: Cache, methods: [MethodName]?, _ policy: CachePolicy, _ environment: CacheEnvironment
    ) -> Self {
        // An object is there for as long as its session only.
        let calls = Self._methodTable.entries.filter { $0.signature.shape == .call && !$0.returnsObjects }
        let names = methods?.map(\.name) ?? calls.map(\.signature).filter { $0.effect == .readOnly }.map(\.name)
        let service = Self._methodTable.service.name
        if names.isEmpty {
            policy.log(
                LogRecord(
                    .warning, "nothing of \(service) is cached: mark what may be @ReadOnly, or name it in methods:"))
        }
        for name in names where !calls.contains(where: { $0.signature.name == name }) {
            policy.log(
                LogRecord(.warning, "\(service).\(name) cannot be cached: only a method can whose result is a value"))
        }
        let cached = calls.filter { names.contains($0.signature.name) }
        let store = CacheStore(
            cache.path, service, cached.map { .init(signature: $0.signature, declaration: $0.declaration) }, policy,
            environment)
        cache.use(store)
        return Self(subject: CachingSubject(next: proxySubject, store: store))
    }
}
