// A cache and its file: read once, written at the pace of `SavingPace`, always on a thread that may block.

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
        return (try? await task?.wait(until: .distantFuture, on: environment.loop)) ?? (task == nil)
    }

    private func write() {
        guard let file else { return }
        environment.block { [self] in
            let records = state.withLock { $0.table.records }
            let outcome = file.write(records, CacheTable.Limits(policy), clock: environment.wallTime)
            let time = environment.wallTime()
            let (savers, next) = state.withLock { state in
                state.table.merge(outcome.found, at: time)
                let taken = state.pace.taken
                let savers = state.savers.filter { $0.change <= taken }
                state.savers.removeAll { $0.change <= taken }
                let next = state.pace.written(isGood: outcome.isWritten)
                return (savers, state.savers.isEmpty ? next : state.pace.wanted())
            }
            if let problem = outcome.problem { report(problem) }
            for saver in savers { _ = saver.task.end(with: outcome.isWritten) }
            perform(next)
        }
    }
}
