// How a client pauses. Its connection or attempt ends at once, and no other is made. Its session waits at both ends.

import RPCSockets
import RPCWire

extension Reconnector {
    private static let paused = "the client is paused"

    /// Ends the connection, or the attempt to make one, and makes no other until `resume`. Does nothing while paused or closed.
    func pause() {
        dialer.loop.submit { [self] in
            let old = state.withLock { state -> State? in
                let old = state
                guard !state.isClosing, state.machine.pause() else { return nil }
                state.attempt += 1
                if old.machine.phase == .connected { state.last = state.channel }
                (state.channel, state.giveUp, state.timer, state.rejection) = (nil, nil, nil, nil)
                return old
            }
            guard let old else { return }
            old.timer?.cancel()
            if old.machine.phase == .connected {
                old.channel?.link.leaveConnection(because: Self.paused)
            } else {
                old.giveUp?()
                old.channel?.abort()
            }
            states.send(.paused)
            tellPause()
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

    /// Ends the calls that do not wait for a connection, and the waits of `connect`, if the client is paused.
    func tellPause() {
        guard state.withLock({ $0.machine.phase == .paused }) else { return }
        requester.feed { $0.half.unreachable(because: Self.paused) }
        endConnecting(.failure(.notConnected(Self.paused)))
    }
}
