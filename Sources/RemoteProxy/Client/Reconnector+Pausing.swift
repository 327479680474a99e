// How a client pauses. Its connection or attempt ends at once, and no other is made. Its session waits at both ends.

import RPCSockets
import RPCWire

extension Reconnector {
    private static let paused = "the client is paused"

    /// Ends the connection, or the attempt to make one, and makes no other until `resume`. Does nothing while paused or closed.
    func pause() {
        dialer.loop.submit { [self] in
            let paused = state.withLock { state -> (old: State, callers: [WaitingTask<Connected>])? in
                let old = state
                guard !state.isClosing, state.machine.pause() else { return nil }
                state.attempt += 1
                if old.machine.phase == .connected { state.last = state.channel }
                (state.channel, state.giveUp, state.timer, state.rejection) = (nil, nil, nil, nil)
                return (old, state.connecting.takeAll())
            }
            guard let (old, callers) = paused else { return }
            old.timer?.cancel()
            if old.machine.phase == .connected {
                old.channel?.link.leaveConnection(because: Self.paused)
            } else {
                old.giveUp?()
                old.channel?.abort()
            }
            states.send(.paused)
            tellPause()
            for caller in callers { _ = caller.end(with: .failure(.notConnected(Self.paused))) }
        }
    }

    /// Ends the pause and connects. Without a pause, connects or probes the connection as `connect` does.
    func resume() {
        dialer.loop.submit { [self] in
            guard state.withLock({ !$0.isClosing }) else { return }
            if state.withLock({ $0.machine.resume() }) { requester.ask { $0.mayBeReached() } }
            hurry()
        }
    }

    /// Ends the calls that do not wait for a connection, if the client is paused.
    /// - Parameter caller: waits in `connect`, and is told too. Others may have come with a `resume` that is still to be done.
    func tellPause(_ caller: WaitingTask<Connected>? = nil) {
        guard state.withLock({ $0.machine.phase == .paused }) else { return }
        requester.feed { $0.half.unreachable(because: Self.paused) }
        _ = caller?.end(with: .failure(.notConnected(Self.paused)))
    }
}
