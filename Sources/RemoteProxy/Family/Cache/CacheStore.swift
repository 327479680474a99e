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
        /// Wait for the result. Fetch it too if `isFetching`; otherwise another call fetches it.
        case wait(WaitingTask<Fetched>, isFetching: Bool)
    }

    private struct State {
        var table: CacheTable
        /// The records of the file.
        var records: CacheRecords
        /// The results being fetched, with the calls that wait for each.
        var fetchings: [CacheKey: WaitingLine<Fetched>] = [:]
        /// How many results are being fetched in the background.
        var refreshes = 0
        /// The calls that wait for the file. Nil when it has been read.
        var loading: WaitingLine<Void>?
        /// Nothing is fetched in the background before this time.
        var pausedUntil: Instant?
        var listeners: [Int: (key: CacheKey, hear: CacheListener)] = [:]
        var lastListener = 0
    }

    let service: String
    /// The names of the methods that are cached.
    let methods: [String]
    let policy: CachePolicy
    let environment: CacheEnvironment
    private let file: CacheFile?
    /// Logs a problem. The same problem is not logged twice in a row.
    private let report: @Sendable (String) -> Void
    private let saver: CacheSaver
    private let state: Lock<State>

    init(
        _ place: CachePlace, _ service: String, _ methods: [String], _ policy: CachePolicy,
        _ environment: CacheEnvironment
    ) {
        self.service = service
        self.methods = methods
        self.policy = policy
        self.environment = environment
        saver = CacheSaver(pause: policy.pauseAfterWriting, environment)
        state = Lock(State(table: CacheTable(policy), records: CacheRecords(policy)))
        let last = Lock("")
        report = { problem in
            let isNew = last.withLock { last in
                defer { last = problem }
                return last != problem
            }
            if isNew { policy.log(problem) }
        }
        if case .file(let path) = place { file = CacheFile(path, report: report) } else { file = nil }
        if let file { load(file) }
    }

    deinit {
        for listener in state.withLock({ $0.listeners }).values { listener.hear(nil, nil) }
    }

    // MARK: finding

    /// Returns the result at this place, if it may be returned to a call. The caller compares the key, outside the lock.
    func look(at place: Int) -> (result: any CachedResult, isFresh: Bool)? {
        let time = environment.wallTime()
        return state.withLock { $0.table.find(at: place, time) }
    }

    /// Decides what a call has to do if `look` found no result for it.
    func find(_ method: Int, _ arguments: some MethodArguments) -> Answer {
        let key = CacheKey(method, arguments)
        let name = file == nil ? nil : (try? arguments.canonicalJSON).map { "\(service).\(methods[method])\($0)" }
        let time = environment.wallTime()
        return state.withLock { state in
            if let task = state.loading?.join() { return .load(task) }
            let isThere = state.table[key.place]?.key == key
            if isThere, state.table.find(at: key.place, time) != nil { return .again }
            // A result that is too old has a record of the same age, so decoding that would not help.
            if !isThere, let name, let record = state.records[name] { return .read(record) }
            let isFetching = state.fetchings[key] == nil
            return .wait(state.fetchings[key, default: WaitingLine()].join(), isFetching: isFetching)
        }
    }

    /// Asks whether a call that returned a stale result has to fetch a new one.
    func refresh(_ key: CacheKey) -> Bool {
        let now = environment.loop.now
        return state.withLock { state in
            if let end = state.pausedUntil, now < end { return false }
            guard state.fetchings[key] == nil, state.refreshes < policy.maximumRefreshes else { return false }
            state.refreshes += 1
            state.fetchings[key] = WaitingLine()
            return true
        }
    }

    // MARK: fetching

    /// Ends fetching with a result or an error.
    func end(_ key: CacheKey, with fetched: Fetched) {
        let (time, now) = (environment.wallTime(), environment.loop.now)
        var failure: (any Error)?
        if case .failure(let error) = fetched { failure = error }
        let (shown, waiting, listeners) = state.withLock { state in
            if case .success(let result) = fetched { state.table.store(result, at: time) }
            var shown = state.table[key.place]
            if let result = shown, result.key != key { shown = nil }
            if failure != nil, shown != nil { state.pausedUntil = now.advanced(by: policy.pauseAfterFailure) }
            var line = state.fetchings.removeValue(forKey: key)
            return (shown, line?.takeAll() ?? [], state.listeners.values.filter { $0.key == key })
        }
        if failure == nil, file != nil { saver.changed(write) }
        if let shown { for listener in listeners { listener.hear(shown, failure) } }
        for task in waiting { _ = task.end(with: fetched) }
    }

    /// Ends a fetch in the background, however long it took.
    func refreshIsOver() { state.withLock { $0.refreshes -= 1 } }

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
            state.records = kept
            state.table.follow(kept)
        }
        return true
    }

    private func json(of result: any CachedResult) -> (name: String, value: String)? {
        let method = "\(service).\(methods[result.key.method])"
        guard let json = try? result.json() else {
            report("a result of \(method) cannot be put into JSON, so the next launch will not have it")
            return nil
        }
        return (method + json.arguments, json.value)
    }
}
