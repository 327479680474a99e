// The results of one cached proxy, the calls that wait for them and the listeners that hear what becomes of them. Knows no
// results' types: `CachingSubject` brings them.

import RPCSockets
import RPCWire

/// Gets each result that has come, and with a failure each that is still shown because no new one could be fetched. Gets nil
/// at the end of the cache.
typealias CacheListener = @Sendable (_ result: (any CachedResult)?, _ failure: (any Error)?) -> Void

final class CacheStore: Sendable {
    typealias Fetched = Swift.Result<any CachedResult, any Error>

    /// What a call does for which no result can be shown at once.
    enum Answer {
        /// It looks again: the result has come meanwhile.
        case again
        /// It decodes a record from the file, gives the result to `adopt`, and looks again.
        case read(CacheRecord)
        /// It waits until the file has been read, and looks again.
        case load(WaitingTask<Void>)
        /// It waits for the result, and fetches it unless another call does.
        case wait(WaitingTask<Fetched>, isFetching: Bool)
    }

    private struct State {
        var table: CacheTable
        /// What the file has.
        var records: CacheRecords
        /// The results being fetched, with the calls that wait for each.
        var fetchings: [CacheKey: WaitingLine<Fetched>] = [:]
        /// How many results are being fetched behind callers.
        var refreshes = 0
        /// The calls that wait for the file. Nil when it has been read.
        var loading: WaitingLine<Void>?
        /// Nothing is fetched behind callers before this time.
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
    /// Logs what went wrong. The same problem is not logged twice in a row.
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

    /// The result in the place, if it may be shown. The caller compares its key, which takes no lock.
    func look(at place: Int) -> (result: any CachedResult, isFresh: Bool)? {
        let time = environment.wallTime()
        return state.withLock { $0.table.find(at: place, time) }
    }

    /// For a call to which no result can be shown.
    func find(_ method: Int, _ arguments: some MethodArguments) -> Answer {
        let key = CacheKey(method, arguments)
        let name = file == nil ? nil : (try? arguments.canonicalJSON).map { "\(service).\(methods[method])\($0)" }
        let time = environment.wallTime()
        return state.withLock { state in
            if let task = state.loading?.join() { return .load(task) }
            let isThere = state.table[key.place]?.key == key
            if isThere, state.table.find(at: key.place, time) != nil { return .again }
            // A result that is too old has a record that is as old.
            if !isThere, let name, let record = state.records[name] { return .read(record) }
            let isFetching = state.fetchings[key] == nil
            return .wait(state.fetchings[key, default: WaitingLine()].join(), isFetching: isFetching)
        }
    }

    /// For a call that has shown a result that is not fresh. True if it has to fetch a new one.
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

    /// How fetching ended.
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

    /// A task that fetched behind a caller has ended, however long that took.
    func refreshIsOver() { state.withLock { $0.refreshes -= 1 } }

    /// - Returns: what ends the listening.
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

    /// A record has been decoded.
    /// - Parameter result: nil when it is no result.
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

    /// Puts results into JSON and writes the file, on a thread that may block. No call waits for that.
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
