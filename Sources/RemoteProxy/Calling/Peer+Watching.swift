// How callers learn that their tasks were cancelled. To be told by the runtime costs a tenth of a call, and hardly any is
// cancelled. So a call that is made on a busy loop begins unwatched: its answer will be there before long. Who still waits
// when the loop has nothing left to do, or after some milliseconds, is woken once, to be watched from then on.
//
// Where the library waits by the standard library's functions (`RemoteCall+Waiting.swift`) all calls are watched.

import RPCSockets
import RPCWire

extension Peer {
    #if KNOWN_RUNTIME
        /// Called by the caller's task before it starts the call. The task enters the loop here, if it runs there, and leaves
        /// it in `start`.
        func begin(_ call: OutgoingCall) {
            call.presence = loop.comeIn()
            if call.presence.isHere, loop.staysAwake {
                call.isCancelled = CancellationWatch.isTaskCancelled
            } else {
                call.watch(for: self)
            }
        }

        /// Has the caller's task, which was woken to be watched, wait once more.
        func waitOn(_ call: OutgoingCall, for waiter: Waiter) {
            let hasEnded = state.withLock { _ in
                // It may have been answered meanwhile, or cancelled.
                if !call.hasEnded { call.waiter = waiter }
                return call.hasEnded
            }
            if hasEnded { waiter.resume() }
        }
    #endif

    func watchWhenIdle() { loop.whenIdle { [self] in wakeUnwatched() } }

    private func wakeUnwatched() {
        let (callers, isOnlyOne, isDone) = state.withLock { state in
            let due = state.unwatched.look(next: state.outgoing.nextID)
            let callers = state.outgoing.kept(due).compactMap { $0.call.takeUnwatched() }
            return (callers, state.outgoing.count == 1, state.unwatched.isEmpty)
        }
        if !isDone { watchWhenIdle() }
        guard !callers.isEmpty else { return }
        loop.answer(onlyOf: isOnlyOne ? ObjectIdentifier(self) : nil) {
            for caller in callers { caller.resume() }
        }
    }
}

extension OutgoingCall {
    /// The caller, if it waits and nobody watches it.
    fileprivate func takeUnwatched() -> Waiter? {
        // In this order: without a waiter it is with its caller, who may be about to be watched.
        guard waiter != nil, !isWatched else { return nil }
        return waiter.take()
    }
}
