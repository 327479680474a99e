// What a program does with the results of a cached proxy: listen to them, drop them, save them.

import RPCSockets
import RPCWire

/// Where a cached proxy keeps its results. A program that listens to them, drops or saves them makes the cache first:
///
/// ```swift
/// let cache = Cache.file("feed.cache")
/// let feed = FeedProxy(client).cached(in: cache)
/// let updates = try cache.updates(of: FeedProxy.Methods.headlines)
/// show(try await feed.headlines())
/// for await update in updates { show(update.value) }
/// ```
///
/// A cache has the results of one proxy and its copies. If it is given to another proxy, it has those of that one from then on;
/// the former goes on with its own.
public final class Cache: Sendable, CustomReflectable {
    private struct State {
        /// Nil until a proxy uses the cache.
        var store: CacheStore?
        /// Whether all results were dropped before a proxy used the cache.
        var dropsAll = false
    }

    /// Nil for a cache in memory.
    let path: String?
    private let state = Lock(State())

    private init(path: String?) { self.path = path }

    /// Shows nothing but the type: what is in it belongs to other threads.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Another cache each time, in this process. Its results stay for as long as it or a copy of its proxy exists.
    public static var memory: Cache { Cache(path: nil) }

    /// Another cache each time, in memory and in the file at this path for the next launch. The folder must exist. Several
    /// processes may share a file. Each object needs a file of its own: results are told apart by service, method and arguments
    /// only.
    ///
    /// Beside it lie a lock file, `.lock`, and the time when all results were last dropped, `.dropped`. A file that cannot be
    /// read is moved to a name that ends in `.aside`.
    public static func file(_ path: String) -> Cache { Cache(path: path) }

    /// The updates of a cached result from now on: each new result, and each failure to fetch one. A result is fetched only when
    /// it is called for.
    ///
    /// The sequence ends when the cache and all copies of its proxy have been released. It keeps neither, but a task that names the
    /// cache does: make the sequence outside the task. A slow reader misses the oldest updates, never the newest.
    /// - Throws: `RPCError` with the code `.noSuchMethod` if no proxy uses the cache yet, or the method is not in it.
    public func updates<Service, Result: Codable>(
        of method: Method<Service, Void, Result>
    ) throws -> some AsyncSequence<CacheUpdate<Result>, Never> & Sendable {
        try updates(of: method, ())
    }

    /// The updates of a method with parameters, for certain arguments: `try cache.updates(of: FeedProxy.Methods.page, 2)`.
    /// Several arguments are a tuple with the names of the parameters.
    /// - Throws: `RPCError` with the code `.noSuchMethod` if no proxy uses the cache yet, or the method is not in it; with
    ///   `.invalidArguments` if an argument is not equal to itself, such as NaN, or cannot be encoded.
    public func updates<Service, Arguments, Result: Codable>(
        of method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) throws -> some AsyncSequence<CacheUpdate<Result>, Never> & Sendable {
        let (store, number) = try find(method.signature)
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
    /// ``save()`` waits until it is written.
    /// - Throws: `RPCError` with the code `.noSuchMethod` if no proxy uses the cache yet, or the method is not in it.
    public func invalidate<Service, Arguments, Result>(_ method: Method<Service, Arguments, Result>) throws {
        let (store, number) = try find(method.signature)
        store.drop(number)
    }

    /// Drops all results, as ``invalidate(_:)`` does for one method. They do not come back after a crash. Before a proxy uses the
    /// cache, drops what is in the file as soon as one does.
    public func invalidateAll() {
        let store = state.withLock { state in
            if state.store == nil { state.dropsAll = true }
            return state.store
        }
        store?.drop(nil)
    }

    /// Returns when everything that the cache holds is in its file. Call it before a short-lived program ends. Otherwise there
    /// is no need: the cache writes the file soon after each change. A cache in memory has no file, and nothing to do.
    /// - Returns: False if the file could not be written. The log says why.
    @discardableResult
    public func save() async -> Bool { await store?.save() ?? true }

    /// Called with the store of each proxy that is to use this cache.
    func use(_ store: CacheStore) {
        let dropsAll = state.withLock { state in
            state.store = store
            defer { state.dropsAll = false }
            return state.dropsAll
        }
        if dropsAll { store.drop(nil) }
    }

    private var store: CacheStore? { state.withLock { $0.store } }

    private func find(_ method: MethodSignature) throws -> (CacheStore, number: Int) {
        guard let store else {
            throw RPCError(
                .noSuchMethod, "no proxy uses this cache yet; make one with .cached(in:)", outcome: .notExecuted)
        }
        // A service may inherit the method, or declare the same.
        guard let number = store.methods.firstIndex(where: { $0.signature.isDeclared(like: method) }) else {
            throw RPCError(
                .noSuchMethod,
                "\(method.wireName) is not in this cache; name it in .cached(in:methods:) or mark it @ReadOnly",
                outcome: .notExecuted)
        }
        return (store, number)
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
