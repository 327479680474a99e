// What the two ends of a connection have found out about each other. Written on the loop, read by callers everywhere
// and on every call, so without a lock.

import RPCWire
import Synchronization

struct Agreement: ~Copyable, Sendable {
    private let framingNumber: Atomic<UInt8>
    private let areOfOneKind = Atomic(false)

    /// - Parameter framing: nil until the peer has sent its first byte.
    init(framing: Framing?) {
        framingNumber = Atomic((framing ?? .lines).rawValue)
    }

    /// How this end frames what it sends.
    var framing: Framing {
        get { Framing(rawValue: framingNumber.load(ordering: .relaxed)) ?? .lines }
        nonmutating set { framingNumber.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// Both ends are ours, so members that other programs do not know may be sent.
    var isOurKind: Bool {
        get { areOfOneKind.load(ordering: .relaxed) }
        nonmutating set { areOfOneKind.store(newValue, ordering: .relaxed) }
    }
}
