// How a server stops. It takes no new connections and calls, lets running calls end, and then ends everything else.

import RPCSockets
import RPCWire
import RemoteProxy
import Synchronization

extension ServerDriver {
    func stop(grace: Duration?) async {
        beginStop(grace: grace)
        await waitUntilStopped()
    }

    /// Waits until the server has stopped, and begins to stop it when the calling task is cancelled.
    func serveUntilStopped() async {
        await withTaskCancellationHandler {
            await waitUntilStopped()
        } onCancel: {
            beginStop(grace: nil)
        }
    }

    func waitUntilStopped() async {
        await withCheckedContinuation { continuation in
            let isStopped = state.withLock { state in
                if state.phase != .stopped { state.waiters.append(continuation) }
                return state.phase == .stopped
            }
            if isStopped { continuation.resume() }
        }
    }

    /// Begins to stop, and returns at once. A second call can only make the grace time end earlier.
    func beginStop(grace: Duration?) {
        let (channels, done) = state.withLock { state in
            if state.phase == .serving { state.phase = .stopping }
            return (Array(state.channels.values), state.finishIfDone())
        }
        closeListeners()
        tls.withLock { $0 }?.stop()
        // The addresses are closed, so no client can come back. A connection that is lost now takes its session with it.
        sessions.close()
        for channel in channels { channel.drain() }
        done?.end()
        if done == nil {
            // On the shared loop: a subject may be blocking a loop of the server.
            let loop = EventLoop.shared
            let end = loop.now.advanced(by: grace ?? configuration.limits.stopGrace)
            loop.schedule(at: end) { [weak self] in self?.graceIsOver() }
        }
    }

    private func graceIsOver() {
        for _ in 0..<connectionCount { traffic.overran(.stopGrace) }
        abort()
    }

    /// Ends all connections at once.
    func abort() {
        let (channels, done) = state.withLock { state in
            if state.phase == .serving { state.phase = .stopping }
            return (Array(state.channels.values), state.finishIfDone())
        }
        closeListeners()
        sessions.close()
        for channel in channels { channel.cutOff() }
        done?.end()
    }

    /// Closes the listeners on their loop, where that happens at once. So the addresses are free, and the socket files gone,
    /// when the server has stopped.
    private func closeListeners() {
        guard let loop = state.withLock({ $0.listeners.isEmpty ? nil : $0.places.first?.loop }) else { return }
        loop.submit { [self] in
            let listeners = state.withLock { $0.listeners }
            for listener in listeners { listener.close() }
            let done = state.withLock { state in
                state.listeners = []
                return state.finishIfDone()
            }
            done?.end()
        }
    }
}

extension ServerDriver.State {
    /// Takes out what is left to end when the last connection and the last listener are gone. Then call `end` without the lock.
    mutating func finishIfDone() -> Self? {
        guard phase == .stopping, channels.isEmpty, listeners.isEmpty else { return nil }
        phase = .stopped
        defer { (places, placeInProcess, waiters) = ([], nil, []) }
        return self
    }

    func end() {
        for place in places + [placeInProcess].compactMap({ $0 }) { place.runner.stop() }
        // A loop first does all work that it already has, including the end of its idle workers. That of the clients in this process
        // goes on.
        for place in places { place.loop.shutdown() }
        for waiter in waiters { waiter.resume() }
    }
}
