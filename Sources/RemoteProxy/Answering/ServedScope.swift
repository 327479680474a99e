// The scope of a worker's task: who is calling and how long there is, another with each request.

import RPCWire
import Synchronization

/// Bound once and changed in place, since binding costs as much as the rest of a small call. A task that a subject has
/// left running has the place as well, and is to see what its own call left there; then the place is given up to it, and
/// with it the worker's task.
///
/// `@unchecked Sendable`: touched by its worker's task only.
final class ServedScope: @unchecked Sendable {
    @exclusivity(unchecked) private var place: Unmanaged<CallScope.Place>?
    /// How many hold the place when no other task does.
    private var holders: UInt = 0

    /// Runs the body with a scope that `begin` sets.
    func bound(_ body: () async -> Void) async {
        let place = CallScope.Place()
        self.place = Unmanaged.passUnretained(place)
        await CallScope.with(place) {
            holders = place.holders
            await body()
        }
        self.place = nil
    }

    /// A request begins. What is the same as for the one before stays as it is.
    @inline(__always)
    func begin(_ caller: Session, deadline: Instant?) {
        place?._withUnsafeGuaranteedRef { place in
            guard place.scope?.caller?.isAt(caller) == true else {
                return place.scope = CallScope(deadline: deadline, caller: Caller(caller))
            }
            place.scope?.deadline = deadline
        }
    }

    /// The request is over. False when a task that goes on has its scope: then it cannot be changed any more.
    func end() -> Bool {
        guard let place, place._withUnsafeGuaranteedRef({ $0.holders }) == holders else { return false }
        // Whatever another task has read there, it has read by now.
        atomicMemoryFence(ordering: .acquiring)
        return true
    }

    /// Until the next request begins nobody's session is kept for it. Not for a place that has been given up.
    func clear() { place?._withUnsafeGuaranteedRef { $0.scope = nil } }
}

extension CallScope.Place {
    /// Never inlined, so that it counts itself each time or never.
    @inline(never) fileprivate var holders: UInt { _getRetainCount(self) }
}
