// How a client closes. Its calls end at once; its posts have a grace time; then the client is closed for good. Until then a
// timer of the loop keeps the reconnector alive, since its client may be gone.

import RPCSockets
import RPCWire

extension Reconnector {
    /// Begins to close. Returns at once. Does nothing the second time.
    /// - Parameter grace: how long pending posts have; nil for the configured time.
    func close(because reason: RPCError, grace: Duration? = nil) {
        let (isFirst, connecting) = state.withLock { state in
            defer { state.isClosing = true }
            return (!state.isClosing, state.connecting.takeAll())
        }
        guard isFirst else { return }
        states.send(.closed)
        states.finish()
        let pending = requester.stopAccepting(reason) { [weak self] in self?.end() } ?? 0
        for caller in connecting { _ = caller.end(with: .failure(reason)) }
        guard pending > 0 else { return end() }
        let grace = grace ?? configuration.postGrace
        let timer = dialer.loop.schedule(at: dialer.loop.now.advanced(by: grace)) { [self] in end(after: grace) }
        let (hasEnded, waiting, action) = state.withLock { state in
            state.graceTimer = timer
            // The next attempt may be due too late for the posts, so it is made now.
            let action = state.machine.resume() ? state.machine.wanted() : state.machine.waited()
            return (state.machine.phase == .closed, action == .dial ? state.timer.take() : nil, action)
        }
        if hasEnded { timer.cancel() }
        waiting?.cancel()
        perform(action)
    }

    /// Closes, and returns how many posts were lost. Returns when the posts are settled and the last connection has ended, or
    /// when the grace time is over.
    func close(grace: Duration) async -> Int {
        close(because: .closed(outcome: .notExecuted), grace: grace)
        let timer = dialer.loop.schedule(at: dialer.loop.now.advanced(by: grace)) { [self] in
            end(after: grace)
            state.withLock { $0.isGraceOver = true }
            tellFinishing()
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            let lostPosts = state.withLock { state -> Int? in
                if state.last == nil || state.isGraceOver, let lostPosts = state.lostPosts { return lostPosts }
                state.finishing.append(continuation)
                return nil
            }
            if let lostPosts { continuation.resume(returning: lostPosts) }
        }
    }

    /// Closes for good: posts that are still pending are lost. Does nothing the second time.
    private func end(after grace: Duration = .zero) {
        let old = state.withLock { state -> State? in
            guard state.machine.close() else { return nil }
            state.attempt += 1
            state.last = state.channel ?? state.last
            defer {
                state.channel = nil
                state.giveUp = nil
                state.timer = nil
                state.graceTimer = nil
            }
            return state
        }
        guard let old else { return }
        old.timer?.cancel()
        old.graceTimer?.cancel()
        old.giveUp?()
        let lostPosts = requester.end(
            because: "the client was closed, and \(grace) of grace were not enough", with: old.channel)
        context.runner.stop()
        let isOver = state.withLock { state in
            state.lostPosts = lostPosts
            return state.last == nil
        }
        if isOver { tellFinishing() }
    }

    /// Called when a channel has ended.
    func ended(_ channel: any MessageChannel) {
        let isLast = state.withLock { state in
            guard state.last === channel else { return false }
            state.last = nil
            return true
        }
        if isLast { tellFinishing() }
    }

    private func tellFinishing() {
        let (finishing, lostPosts) = state.withLock { state in
            defer { state.finishing = [] }
            return (state.finishing, state.lostPosts ?? 0)
        }
        for continuation in finishing { continuation.resume(returning: lostPosts) }
    }
}
