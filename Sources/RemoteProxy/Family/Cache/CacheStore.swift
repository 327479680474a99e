// The results of one cached proxy, whoever fetches them and whoever waits for them. Knows no types: those who call bring
// them.

import RPCSockets
import RPCWire

final class CacheStore: Sendable {
    typealias Fetched = Swift.Result<any CachedResult, any Error>

    /// What somebody who fetches a result gives back with it: for what, and the how manieth fetching it is.
    struct Ticket: Sendable {
        let key: CacheKey
        fileprivate let number: Int
        /// Whether nobody waits: the callers have been given what there was.
        let isRefresh: Bool
    }

    /// What somebody finds who cannot be shown anything at once. Whoever is given a ticket is to see to it that the
    /// result is fetched.
    enum Answer {
        /// It has come meanwhile, or from the file; with a ticket if it is not fresh.
        case known(any CachedResult, Ticket?)
        /// It stands in the file, and is to be decoded and given to `adopt` or `forget`.
        case unread(CacheRecord)
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

    let service: String
    /// The names of those whose results are kept.
    let methods: [String]
    let policy: CachePolicy
    let environment: CacheEnvironment
    let file: CacheFile?
    let listeners = CacheListeners()
    let state: Lock<State>

    init(
        _ place: CachePlace, _ service: String, _ methods: [String], _ policy: CachePolicy,
        _ environment: CacheEnvironment
    ) {
        self.service = service
        self.methods = methods
        self.policy = policy
        self.environment = environment
        var state = State(table: CacheTable(CacheLimits(policy)))
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

    /// What is known. The caller compares it with what it asks for, which takes no lock.
    func look(at place: Int) -> CacheTable.Found {
        let time = environment.wallTime()
        return state.withLock { $0.table.find(at: place, time) { environment.loop.now } }
    }

    /// For one who has found nothing to show.
    func find(_ key: CacheKey) -> Answer {
        let time = environment.wallTime()
        let name = file == nil ? nil : name(of: key)
        return state.withLock { state in
            if let task = state.loading?.join() { return .loading(task) }
            if let name, let record = state.table.unread[name] { return .unread(record) }
            switch state.table.find(at: key.place, time, { environment.loop.now }) {
            case .fresh(let result) where result.key == key:
                return .known(result, nil)
            case .stale(let result) where result.key == key:
                return .known(result, state.refresh(key, atMost: policy.maximumRefreshes))
            default:
                if let task = state.fetchings[key]?.waiting.join() { return .coming(task) }
                let (ticket, task) = state.begin(key, isRefresh: false)
                return .missing(task, ticket)
            }
        }
    }

    /// For one who has shown a result that is not fresh; nil when a new one is on its way or may not be fetched now.
    func refresh(_ key: CacheKey) -> Ticket? {
        state.withLock { $0.refresh(key, atMost: policy.maximumRefreshes) }
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
        case .success(let result):
            let saving = state.withLock { state in
                state.table.store(result, at: time)
                return file == nil ? .nothing : state.pace.changed()
            }
            perform(saving)
            listeners.tell(.refreshed(result), about: ticket.key)
        case .failure(let error):
            let result = state.withLock { state in
                state.table.pause(ticket.key, until: now.advanced(by: policy.pauseAfterFailure))
                return state.table[ticket.key]
            }
            if let result { listeners.tell(.stale(result, error), about: ticket.key) }
        }
        for task in fetching.waiting.takeAll() { _ = task.end(with: fetched) }
    }

    /// The task that fetched is over, whether or not it was waited for so long.
    func refreshIsOver() { state.withLock { $0.refreshes -= 1 } }
}

extension CacheStore.State {
    fileprivate mutating func refresh(_ key: CacheKey, atMost limit: Int) -> CacheStore.Ticket? {
        guard fetchings[key] == nil, refreshes < limit else { return nil }
        refreshes += 1
        return begin(key, isRefresh: true).ticket
    }

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
