// The results of one cached proxy, whoever fetches them and whoever waits for them. Knows neither the service nor the
// types: those who call bring both.

import RPCWire

final class CacheStore: Sendable {
    typealias Fetched = Swift.Result<any CachedValue, any Error>

    /// What somebody who fetches a result gives back with it: for what, and the how manieth fetching it is.
    struct Ticket: Sendable {
        let key: CacheKey
        fileprivate let number: Int
        /// Whether nobody waits: the callers have been given what there was.
        let isRefresh: Bool
    }

    /// What is known when a result is asked for. Whoever is given a ticket is to see to it that the result is fetched.
    enum Answer {
        case value(any CachedValue)
        case staleValue(any CachedValue, Ticket)
        case coming(WaitingTask<Fetched>)
        case missing(WaitingTask<Fetched>, Ticket)
        /// The file is being read.
        case loading(WaitingTask<Void>)
    }

    struct State {
        var table: CacheTable
        fileprivate var fetchings: [CacheKey: Fetching] = [:]
        fileprivate var fetchingsBegun = 0
        fileprivate var refreshes = 0
        /// Those who wait for the file; nil when it has been read.
        var loading: WaitingLine<Void>?
        var pace = SavingPace()
        /// Those who wait for a change to be written.
        var savers: [(change: Int, task: WaitingTask<Bool>)] = []
        /// The last one that the log was told.
        var problem: String?
    }

    fileprivate struct Fetching {
        let number: Int
        var waiting = WaitingLine<Fetched>()
        var timer: (any LoopTimer)?
    }

    let policy: CachePolicy
    let environment: CacheEnvironment
    let file: CacheFile?
    let listeners = CacheListeners()
    let state: Lock<State>

    init(_ place: CachePlace, _ policy: CachePolicy, _ environment: CacheEnvironment) {
        self.policy = policy
        self.environment = environment
        var state = State(table: CacheTable(CacheTable.Limits(policy)))
        switch place {
        case .memory:
            file = nil
        case .file(let path):
            file = CacheFile(path)
            state.loading = WaitingLine()
        }
        self.state = Lock(state)
        load()
    }

    func find(_ key: CacheKey) -> Answer {
        let time = environment.wallTime()
        return state.withLock { state in
            if let task = state.loading?.join() { return .loading(task) }
            switch state.table.find(key, at: time, { environment.loop.now }) {
            case .fresh(let value):
                return .value(value)
            case .stale(let value):
                guard state.fetchings[key] == nil, state.refreshes < policy.maximumRefreshes else {
                    return .value(value)
                }
                state.refreshes += 1
                return .staleValue(value, state.begin(key, isRefresh: true).ticket)
            case .nothing:
                if let task = state.fetchings[key]?.waiting.join() { return .coming(task) }
                let (ticket, task) = state.begin(key, isRefresh: false)
                return .missing(task, ticket)
            }
        }
    }

    /// The value in the form in which it was asked for, so that the next one need not decode it.
    func replace(_ old: any CachedValue, with value: any CachedValue, for key: CacheKey) {
        state.withLock { $0.table.replace(old, with: value, for: key) }
    }

    /// A value that cannot be used.
    func forget(_ value: any CachedValue, for key: CacheKey) {
        state.withLock { state in
            if state.table[key] === value { state.table.forget(key) }
        }
        report("what the cache has for \(key.service).\(key.method) is no result of it any more, and is fetched anew")
    }

    /// Says it once, not again and again.
    func report(_ problem: String) {
        let isNew = state.withLock { state in
            defer { state.problem = problem }
            return state.problem != problem
        }
        if isNew { policy.log(problem) }
    }
}

// MARK: fetching

extension CacheStore {
    /// Ends the fetching if nothing else does.
    func attach(_ timer: any LoopTimer, to ticket: Ticket) {
        let isOver = state.withLock { state in
            guard state.fetchings[ticket.key]?.number == ticket.number else { return true }
            state.fetchings[ticket.key]?.timer = timer
            return false
        }
        if isOver { timer.cancel() }
    }

    /// How the fetching ended. Only the first end counts.
    func end(_ ticket: Ticket, with fetched: Fetched) {
        let (time, now) = (environment.wallTime(), environment.loop.now)
        guard var fetching = state.withLock({ $0.end(ticket) }) else { return }
        fetching.timer?.cancel()
        switch fetched {
        case .success(let value):
            let (isKept, saving) = state.withLock { state in
                (
                    state.table.store(value, for: ticket.key, at: time),
                    file == nil ? .nothing : state.pace.changed()
                )
            }
            if !isKept { reportTooLarge(ticket.key) }
            perform(saving)
            listeners.tell(.refreshed(value), about: ticket.key)
        case .failure(let error):
            let value = state.withLock { state in
                state.table.pause(ticket.key, until: now.advanced(by: policy.pauseAfterFailure))
                return state.table[ticket.key]
            }
            if let value { listeners.tell(.stale(value, error), about: ticket.key) }
        }
        for task in fetching.waiting.takeAll() { _ = task.end(with: fetched) }
    }

    /// The task that fetched is over, whether or not it was waited for so long.
    func refreshIsOver() { state.withLock { $0.refreshes -= 1 } }

    private func reportTooLarge(_ key: CacheKey) {
        report(
            "a result of \(key.service).\(key.method) is larger than the cache may be and was not kept "
                + "(maximumBytes is \(policy.maximumBytes))")
    }
}

extension CacheStore.State {
    fileprivate mutating func begin(
        _ key: CacheKey, isRefresh: Bool
    ) -> (ticket: CacheStore.Ticket, task: WaitingTask<CacheStore.Fetched>) {
        fetchingsBegun += 1
        var fetching = CacheStore.Fetching(number: fetchingsBegun)
        let task = fetching.waiting.join()
        fetchings[key] = fetching
        return (CacheStore.Ticket(key: key, number: fetchingsBegun, isRefresh: isRefresh), task)
    }

    fileprivate mutating func end(_ ticket: CacheStore.Ticket) -> CacheStore.Fetching? {
        guard fetchings[ticket.key]?.number == ticket.number else { return nil }
        return fetchings.removeValue(forKey: ticket.key)
    }
}
