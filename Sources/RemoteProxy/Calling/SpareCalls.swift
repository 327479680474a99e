// Calls that have ended and whose memory the next ones use.

import RPCSockets
import RPCWire
import Synchronization

/// A caller that goes on calling leaves a call behind and wants one back: one at a time is at hand without a lock, so
/// that callers on different threads do not meet for it.
final class SpareCalls: Sendable {
    private static let most = 64

    private let atHand = Atomic<Unmanaged<OutgoingCall>?>(nil)
    private let others = Lock<[OutgoingCall]>([])

    deinit { atHand.load(ordering: .acquiring)?.release() }

    /// One with an empty message.
    func take() -> OutgoingCall {
        if let call = atHand.exchange(nil, ordering: .acquiring) { return call.takeRetainedValue() }
        return others.withLock { $0.popLast() } ?? OutgoingCall()
    }

    /// Takes back a call that only the caller of this has.
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
