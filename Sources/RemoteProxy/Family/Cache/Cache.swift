// What a program does with the results of a cached proxy: listen to them, drop them, save them.

import RPCSockets
import RPCWire

/// Where a cached proxy keeps its results. A program that listens to them, drops or saves them makes the cache first:
///
/// ```swift
/// let cache = Cache.file("feed.cache")
/// let feed = FeedProxy(client).cached(in: cache)
/// for await update in try cache.updates(of: FeedProxy.Methods.headlines) { show(update.value) }
/// ```
///
/// A cache is of one proxy and its copies. It keeps the results for as long as one of them or the cache itself exists.
public final class Cache: Sendable {
    /// Nil for a cache in memory.
    private let path: String?
    /// Nil until the proxy has been made.
    private let known = Lock<CacheStore?>(nil)

    private init(path: String?) { self.path = path }

    /// A new cache in this process.
    public static var memory: Cache { Cache(path: nil) }

    /// A new cache in memory, and in the file at this path for the next launch. The folder must exist. Several processes may
    /// share a file. Each object needs a file of its own: results are told apart by service, method and arguments only.
    ///
    /// Beside it lie a lock file, `.lock`, and the time when all results were last dropped, `.dropped`. A file that cannot be
    /// read is moved to a name that ends in `.aside`.
    public static func file(_ path: String) -> Cache { Cache(path: path) }

    /// The updates of a cached result from now on: each new result, and each failure to fetch one. The sequence ends with the
    /// cache and its proxy.
    ///
    /// A slow reader misses the oldest updates, never the newest.
    /// - Throws: `RPCError` with the code `.noSuchMethod` if the cache has no proxy yet, or does not cache the method.
    public func updates<Service, Result: Codable>(
        of method: Method<Service, Void, Result>
    ) throws -> some AsyncSequence<CacheUpdate<Result>, Never> & Sendable {
        try updates(of: method, ())
    }

    /// The updates of a method with parameters, for certain arguments: `try cache.updates(of: FeedProxy.Methods.page, 2)`.
    /// Several arguments are a tuple with the names of the parameters.
    /// - Throws: `RPCError` with the code `.noSuchMethod` if the cache has no proxy yet, or does not cache the method; with
    ///   `.invalidArguments` if an argument is not equal to itself, such as NaN, or cannot be encoded.
    public func updates<Service, Arguments, Result: Codable>(
        of method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) throws -> some AsyncSequence<CacheUpdate<Result>, Never> & Sendable {
        guard let store else {
            throw RPCError(
                .noSuchMethod, "this cache has no proxy yet; make one with .cached(in:)", outcome: .notExecuted)
        }
        guard let number = store.number(of: method) else {
            throw RPCError(
                .noSuchMethod,
                "\(method.signature.wireName) is not in this cache; name it in .cached(in:methods:) or mark it @ReadOnly",
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
        let end = store.listen(to: key) { result, failure in
            guard let result else { return continuation.finish() }
            guard let value = (result as? KnownResult<Arguments, Result>)?.value else { return }
            continuation.yield(failure.map { .stale(value, $0) } ?? .refreshed(value))
        }
        continuation.onTermination = { _ in end() }
        return stream
    }

    /// Drops the results of a method, for all arguments. The next call fetches a new one and waits for it. Calls that wait
    /// already get what they asked for. A crash before the file is written again brings the results back at the next launch;
    /// ``save()`` waits until it is written. If the method is not in the cache, nothing happens but a line in the log.
    public func invalidate<Service, Arguments, Result>(_ method: Method<Service, Arguments, Result>) {
        guard let store else { return }
        guard let number = store.number(of: method) else {
            return store.policy.log(
                LogRecord(.warning, "\(method.signature.wireName) is not in this cache, so nothing was invalidated"))
        }
        store.drop(number)
    }

    /// Drops all results, as `invalidate` does for one method. They do not come back after a crash.
    public func invalidateAll() { store?.drop(nil) }

    /// Returns when everything that the cache holds is in its file. Call it before a short-lived program ends. Otherwise there
    /// is no need: the cache writes the file soon after each change. A cache in memory has no file, and nothing to do.
    /// - Returns: False if the file could not be written. The log says why.
    @discardableResult
    public func save() async -> Bool { await store?.save() ?? true }

    /// Makes the store of the proxy. Returns nil if the cache has a proxy already.
    func makeStore(_ make: (_ path: String?) -> CacheStore) -> CacheStore? {
        known.withLock { known in
            guard known == nil else { return nil }
            known = make(path)
            return known
        }
    }

    private var store: CacheStore? { known.withLock { $0 } }
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
