// A cache and its file: read once, written at the pace of `SavingPace`, always on a thread that may block.

import RPCSockets
import RPCWire

extension CacheStore {
    /// Reads the file, if there is to be one. Those who ask meanwhile wait.
    func load() {
        guard let file else { return }
        environment.block { [self] in
            let outcome = file.read()
            let time = environment.wallTime()
            var waiting = state.withLock { state in
                state.table.merge(outcome.found, at: time)
                defer { state.loading = nil }
                return state.loading
            }
            if let problem = outcome.problem { report(problem) }
            for task in waiting?.takeAll() ?? [] { _ = task.end(with: ()) }
        }
    }

    func perform(_ action: SavingPace.Action) {
        switch action {
        case .nothing: break
        case .write: write()
        case .pause:
            // Whoever lets go of the proxy meanwhile still finds in the file what it has seen.
            environment.loop.schedule(at: environment.loop.now.advanced(by: policy.pauseAfterWriting)) { [self] in
                perform(state.withLock { $0.pace.pauseIsOver() })
            }
        }
    }

    /// Returns when all that has come until now has been written, or could not be: then false.
    func save() async -> Bool {
        guard file != nil else { return true }
        let (task, action) = state.withLock { state -> (WaitingTask<Bool>?, SavingPace.Action) in
            guard !state.pace.isWritten else { return (nil, .nothing) }
            let task = WaitingTask<Bool>()
            state.savers.append((state.pace.changes, task))
            return (task, state.pace.wanted())
        }
        perform(action)
        guard let task else { return true }
        return (try? await task.wait(until: .distantFuture, on: environment.loop)) ?? false
    }

    private func write() {
        guard let file else { return }
        environment.block { [self] in
            putIntoJSON()
            let records = state.withLock { $0.table.records }
            let outcome = file.write(records, CacheLimits(policy), clock: environment.wallTime)
            let time = environment.wallTime()
            let (savers, next) = state.withLock { state in
                state.table.merge(outcome.found, at: time)
                state.table.drop(outcome.dropped)
                let taken = state.pace.taken
                let savers = state.savers.filter { $0.change <= taken }
                state.savers.removeAll { $0.change <= taken }
                let next = state.pace.written(isGood: outcome.isWritten)
                return (savers, state.savers.isEmpty ? next : state.pace.wanted())
            }
            if let problem = outcome.problem { report(problem) }
            reportTooLarge(records)
            for saver in savers { _ = saver.task.end(with: outcome.isWritten) }
            perform(next)
        }
    }

    /// What has come since the last time, on the thread that may block: no call waits for it.
    private func putIntoJSON() {
        for result in state.withLock({ $0.table.unfiled }) {
            let key = result.key
            guard let name = name(of: key), let json = try? result.json() else {
                report(
                    "a result of \(service).\(methods[key.method]) cannot be put into JSON, so the next launch will not have it"
                )
                continue
            }
            state.withLock { $0.table.file(result, as: name, json) }
        }
    }

    private func reportTooLarge(_ records: [CacheRecord]) {
        guard let record = records.first(where: { $0.size > policy.maximumBytes }) else { return }
        report(
            "a result of \(record.key.service).\(record.key.method) is larger than the file of the cache may be and was "
                + "not kept (maximumBytes is \(policy.maximumBytes))")
    }

    /// What the file calls it; nil when its arguments cannot be put into JSON.
    func name(of key: CacheKey) -> CacheRecord.Key? {
        try? CacheRecord.Key(service: service, method: methods[key.method], key.arguments)
    }

    /// A record has been decoded.
    func adopt(_ result: any CachedResult, from record: CacheRecord) {
        state.withLock { $0.table.adopt(result, from: record) }
    }

    /// A record that is no result.
    func forget(_ record: CacheRecord) {
        state.withLock { $0.table.forget(record) }
        report(
            "what the cache has for \(record.key.service).\(record.key.method) is no result of it any more, and is fetched anew"
        )
    }
}
