// Keeps calls that have ended, so that later calls use their memory.

import RPCSockets
import RPCWire
import Synchronization

/// A caller that makes one call after another gives a call back and then takes one. So one call is kept outside the lock, and
/// callers on different threads do not compete for the lock.
struct SpareCalls: ~Copyable, Sendable {
    private static let most = 64

    private let atHand = Atomic<Unmanaged<OutgoingCall>?>(nil)
    private let others = Lock<[OutgoingCall]>([])

    deinit { atHand.load(ordering: .acquiring)?.release() }

    /// A call with an empty message.
    /// - Parameter requester: has these calls.
    func take(for requester: Requester) -> OutgoingCall {
        if let call = atHand.exchange(nil, ordering: .acquiring) { return call.takeRetainedValue() }
        return others.withLock { $0.popLast() } ?? OutgoingCall(madeBy: requester)
    }

    /// Takes a call back. No other code may have a reference to it.
    func give(_ call: consuming OutgoingCall) {
        call.reset()
        let kept = Unmanaged.passRetained(consume call)
        guard !atHand.compareExchange(expected: nil, desired: kept, ordering: .releasing).exchanged else { return }
        let another = kept.takeRetainedValue()
        others.withLock { others in
            if others.count < Self.most { others.append(another) }
        }
    }
}
