// Holds the results of one cached proxy, the calls that wait for them, and the listeners that get updates. It does not know the
// types of results: `CachingSubject` does.

import RPCSockets
import RPCWire

/// Gets each new result. With a failure it gets the result that calls still return, because no new one could be fetched.
/// Gets nil when the cache ends.
typealias CacheListener = @Sendable (_ result: (any CachedResult)?, _ failure: (any Error)?) -> Void

final class CacheStore: Sendable {
    typealias Fetched = Swift.Result<any CachedResult, any Error>

    /// What a call has to do if no result can be returned at once.
    enum Answer {
        /// Look again: the result has arrived meanwhile.
        case again
        /// Decode the record from the file, pass the result to `adopt`, and look again.
        case read(CacheRecord)
        /// Wait until the file has been read, and look again.
        case load(WaitingTask<Void>)
        /// Wait for the result, and fetch it if a fetch begins here; otherwise another call fetches it.
        case wait(WaitingTask<Fetched>, begins: Fetching?)
    }

    /// One fetch of a result. One that began before the results of its method were dropped does not count any more.
    struct Fetching: Hashable {
        let key: CacheKey
        fileprivate let drops: Int
    }

    private struct State {
        var table: CacheTable
        /// The records of the file.
        var records: CacheRecords
        /// The results being fetched, with the calls that wait for each.
        var fetchings: [Fetching: WaitingLine<Fetched>] = [:]
        /// How often the results of each method were dropped.
        var drops: [Int]
        /// How many results are being fetched in the background.
        var refreshes = 0
        /// The calls that wait for the file. Nil when it has been read.
        var loading: WaitingLine<Void>?
        /// Nothing is fetched in the background before this time.
        var pausedUntil: Instant?
        var listeners: [Int: (key: CacheKey, hear: CacheListener)] = [:]
        var lastListener = 0

        func fetching(_ key: CacheKey) -> Fetching { Fetching(key: key, drops: drops[key.method]) }
    }

    /// A method that is cached.
    struct CachedMethod: Sendable {
        let signature: MethodSignature
        let declaration: ObjectIdentifier

        var name: String { signature.name }
    }

    let service: String
    let methods: [CachedMethod]
    let policy: CachePolicy
    let environment: CacheEnvironment
    private let file: CacheFile?
    /// Held while a drop is noted beside the file, so that the latest time stays there.
    private let dropping = Lock(())
    /// Logs a problem. The same problem is not logged twice in a row.
    private let report: @Sendable (String) -> Void
    private let saver: CacheSaver
    private let state: Lock<State>

    init(
        _ path: String?, _ service: String, _ methods: [CachedMethod], _ policy: CachePolicy,
        _ environment: CacheEnvironment
    ) {
        self.service = service
        self.methods = methods
        self.policy = policy
        self.environment = environment
        saver = CacheSaver(pause: policy.pauseAfterWriting, environment)
        let drops = Array(repeating: 0, count: methods.count)
        state = Lock(State(table: CacheTable(policy), records: CacheRecords(policy), drops: drops))
        let last = Lock("")
        report = { problem in
            let isNew = last.withLock { last in
                defer { last = problem }
                return last != problem
            }
            if isNew { policy.log(LogRecord(.warning, problem)) }
        }
        file = path.map { [report] in CacheFile($0, report: report) }
        if let file { load(file) }
    }

    deinit {
        for listener in state.withLock({ $0.listeners }).values { listener.hear(nil, nil) }
    }

    // MARK: finding

    /// The index of a method in `methods`; nil if it is not cached.
    func number<Service>(of method: _ServiceMethod<Service>) -> Int? {
        methods.firstIndex { $0.declaration == method.declaration }
    }

    /// Returns the result at this place, if it may be returned to a call. The caller compares the key, outside the lock.
    func look(at place: Int) -> (result: any CachedResult, isFresh: Bool)? {
        let time = environment.wallTime()
        return state.withLock { $0.table.find(at: place, time) }
    }

    /// Decides what a call has to do if `look` found no result for it.
    func find<Arguments>(_ key: CacheKey, _ arguments: Arguments, _ coding: _ArgumentCoding<Arguments>) -> Answer {
        let json = file == nil ? nil : try? coding.canonicalJSON(of: arguments)
        let name = json.map { "\(service).\(methods[key.method].name)\($0)" }
        let time = environment.wallTime()
        return state.withLock { state in
            if let task = state.loading?.join() { return .load(task) }
            let isThere = state.table[key.place]?.key == key
            if isThere, state.table.find(at: key.place, time) != nil { return .again }
            // A result that is too old has a record of the same age, so decoding that would not help.
            if !isThere, let name, let record = state.records[name] { return .read(record) }
            let fetching = state.fetching(key)
            let begins = state.fetchings[fetching] == nil
            return .wait(
                state.fetchings[fetching, default: WaitingLine()].join(), begins: begins ? fetching : nil)
        }
    }

    /// The fetch that a call which returned a stale result has to make. Nil if it has to make none.
    func refresh(_ key: CacheKey) -> Fetching? {
        let now = environment.loop.now
        return state.withLock { state in
            if let end = state.pausedUntil, now < end { return nil }
            let fetching = state.fetching(key)
            guard state.fetchings[fetching] == nil, state.refreshes < policy.maximumRefreshes else { return nil }
            state.refreshes += 1
            state.fetchings[fetching] = WaitingLine()
            return fetching
        }
    }

    // MARK: fetching

    /// Ends fetching with a result or an error.
    func end(_ fetching: Fetching, with fetched: Fetched) {
        let key = fetching.key
        let (time, now) = (environment.wallTime(), environment.loop.now)
        var failure: (any Error)?
        if case .failure(let error) = fetched { failure = error }
        let (shown, waiting, listeners) = state.withLock { state in
            let counts = fetching == state.fetching(key)
            var shown = counts ? state.table[key.place] : nil
            if let result = shown, result.key != key { shown = nil }
            if counts, case .success(let result) = fetched {
                state.table.store(result, at: time)
                shown = result
            }
            if failure != nil, shown != nil { state.pausedUntil = now.advanced(by: policy.pauseAfterFailure) }
            var line = state.fetchings.removeValue(forKey: fetching)
            return (shown, line?.takeAll() ?? [], state.listeners.values.filter { $0.key == key })
        }
        if failure == nil, file != nil { saver.changed(write) }
        if let shown { for listener in listeners { listener.hear(shown, failure) } }
        for task in waiting { _ = task.end(with: fetched) }
    }

    /// Ends a fetch in the background, however long it took.
    func refreshIsOver() { state.withLock { $0.refreshes -= 1 } }

    /// Drops the results of a method, or of all methods. Calls that wait for a result still get it; later calls fetch anew.
    func drop(_ method: Int?) {
        let time = environment.wallTime()
        state.withLock { state in
            for method in method.map({ [$0] }) ?? Array(methods.indices) {
                state.drops[method] += 1
                state.table.removeAll(of: method)
                state.records.drop("\(service).\(methods[method].name)", at: time)
            }
        }
        guard let file else { return }
        if method == nil { dropping.withLock { _ in file.drop(at: environment.wallTime()) } }
        saver.changed(write)
    }

    /// - Returns: a closure that removes the listener.
    func listen(to key: CacheKey, _ listener: @escaping CacheListener) -> @Sendable () -> Void {
        let number = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = (key, listener)
            return state.lastListener
        }
        // The listener is released outside the lock.
        return { [state] in _ = state.withLock { $0.listeners.removeValue(forKey: number) } }
    }

    // MARK: the file

    /// Stores a result that was decoded from a record.
    /// - Parameter result: nil if the record could not be decoded.
    func adopt(_ result: (any CachedResult)?, from record: CacheRecord) {
        let time = environment.wallTime()
        state.withLock { state in
            if let result {
                state.table.store(result, from: record, at: time)
            } else {
                state.records.remove(record.name)
            }
        }
        if result == nil {
            report("what the cache has for \(record.method) is no result of it any more, and is fetched anew")
        }
    }

    func save() async -> Bool { file == nil ? true : await saver.save(write) }

    private func load(_ file: CacheFile) {
        state.withLock { $0.loading = WaitingLine() }
        environment.block { [self] in
            let found = file.read()
            let time = environment.wallTime()
            var waiting = state.withLock { state in
                state.records.merge(found, at: time)
                defer { state.loading = nil }
                return state.loading
            }
            for task in waiting?.takeAll() ?? [] { _ = task.end(with: ()) }
        }
    }

    /// Encodes results as JSON and writes the file, on a thread that may block. No call waits for it.
    private func write() -> Bool {
        let new = state.withLock { $0.table.unnamed }.compactMap { result in json(of: result).map { (result, $0) } }
        let (made, records) = state.withLock { state in
            let made = new.compactMap { state.table.makeRecord(of: $0, as: $1.name, $1.value) }
            for record in made { state.records.remove(record.name) }
            state.records.merge(made, at: .max)
            for use in state.table.uses { state.records.use(use.name, at: use.time) }
            return (made, state.records)
        }
        if let record = made.first(where: { $0.size > policy.maximumBytes }) {
            report(
                "a result of \(record.method) is larger than the file of the cache may be and was not kept "
                    + "(maximumBytes is \(policy.maximumBytes))")
        }
        guard let kept = file?.write(records, clock: environment.wallTime) else { return false }
        state.withLock { state in
            var kept = kept
            kept.follow(state.records)
            state.records = kept
            state.table.follow(kept)
        }
        return true
    }

    private func json(of result: any CachedResult) -> (name: String, value: String)? {
        let method = "\(service).\(methods[result.key.method].name)"
        guard let json = try? result.json() else {
            report("a result of \(method) cannot be put into JSON, so the next launch will not have it")
            return nil
        }
        return (method + json.arguments, json.value)
    }
}
