// How a counted object comes and goes: made on nobody's behalf, given to those who wait, and let go.

import RPCWire

extension CountedObject {
    func perform(_ action: Action) {
        switch action {
        case .nothing: break
        case .make: detached { await self.makeObject() }
        case .tell(let object):
            detached {
                await self.whenLast(object.made)
                self.perform(self.state.withLock { $0.action($0.count.told()) })
            }
        }
    }

    /// For all holders, so under nobody's deadline and on nobody's behalf.
    private func detached(_ work: @escaping @Sendable () async -> Void) {
        _ = CallScope.with(nil) { Task(executorPreference: executor) { await work() } }
    }

    private func makeObject() async {
        do {
            let object = try await make()
            let (action, next) = state.withLock { state -> (Action, Next) in
                state.object = object
                let action = state.action(state.count.made())
                return (action, state.posts.begin() ? state.next() : .calls(state.waiting.takeAll()))
            }
            perform(action)
            await give(object.subject, to: next)
        } catch {
            let (action, waiting) = state.withLock { state in
                state.count.failed()
                return (state.left(state.posts.removeAll()), state.waiting.takeAll())
            }
            for task in waiting { _ = task.end(with: .failure(RPCError.notMade(name, error))) }
            perform(action)
        }
    }

    /// First the posts that were kept, then the calls that came behind them.
    private func give(_ subject: any Subject<Service>, to first: Next) async {
        var next = first
        while case .post(let deliver) = next {
            await deliver(subject)
            let action: Action
            // In one step, or this one could be the last to leave and go on with posts that wait for the next object.
            (next, action) = state.withLock { state in (state.next(), state.left()) }
            perform(action)
        }
        guard case .calls(let waiting) = next else { return }
        for task in waiting { _ = task.end(with: .success(subject)) }
    }
}
