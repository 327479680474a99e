// A lock for a few instructions. It is made of an atomic word: this target does not know the system, and ThreadSanitizer sees the
// order that an atomic word makes, but not that of the standard library's `Mutex`.

import Synchronization

/// Protects a value that threads use for an append or a removal at most.
///
/// `@unchecked Sendable`: only the thread that has set `isTaken` touches the value.
final class SpinLock<Value>: @unchecked Sendable {
    private let isTaken = Atomic(false)
    private var value: Value

    init(_ value: Value) { self.value = value }

    /// Waits, without sleeping, until no other thread uses the value.
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        while isTaken.exchange(true, ordering: .acquiring) {}
        defer { isTaken.store(false, ordering: .releasing) }
        return body(&value)
    }

    /// Does nothing, and returns nil, while another thread uses the value.
    func withLockIfAvailable<Result>(_ body: (inout Value) -> Result) -> Result? {
        guard !isTaken.exchange(true, ordering: .acquiring) else { return nil }
        defer { isTaken.store(false, ordering: .releasing) }
        return body(&value)
    }
}
