// How a counted object comes and goes: made on nobody's behalf, given to those who wait, and let go.

import RPCSockets
import RPCWire

extension CountedObject {
    func startMaking() { detached { await self.makeObject() } }

    /// Nobody holds it any more.
    func letGo(_ object: Object) {
        detached {
            await self.whenLast(object.made)
            if self.state.withLock({ $0.count.told() == .make }) { self.startMaking() }
        }
    }

    /// For all holders, so under nobody's deadline and on nobody's behalf.
    private func detached(_ work: @escaping @Sendable () async -> Void) {
        _ = CallScope.with(nil) { Task(executorPreference: executor) { await work() } }
    }

    private func makeObject() async {
        do {
            let object = try await make()
            let (unwanted, next) = state.withLock { state -> (Object?, Next) in
                state.object = object
                let unwanted = state.unwanted(state.count.made())
                return (unwanted, state.posts.begin() ? state.next() : .calls(state.waiting.takeAll()))
            }
            if let unwanted { letGo(unwanted) }
            await give(object.subject, to: next)
        } catch {
            let (unwanted, waiting) = state.withLock { state in
                state.count.failed()
                return (state.left(state.posts.removeAll()), state.waiting.takeAll())
            }
            for task in waiting { _ = task.end(with: .failure(RPCError.notMade(name, error))) }
            if let unwanted { letGo(unwanted) }
        }
    }

    /// First the posts that were kept, then the calls that came behind them.
    private func give(_ subject: any Subject<Service>, to first: Next) async {
        var next = first
        while case .post(let deliver) = next {
            await deliver(subject)
            let unwanted: Object?
            // In one step, or this one could be the last to leave and go on with posts that wait for the next object.
            (next, unwanted) = state.withLock { state in (state.next(), state.left()) }
            if let unwanted { letGo(unwanted) }
        }
        guard case .calls(let waiting) = next else { return }
        for task in waiting { _ = task.end(with: .success(subject)) }
    }
}
