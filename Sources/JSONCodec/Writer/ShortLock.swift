// A lock for a few instructions. It is the standard library's `Mutex`, because this target does not know the system.

import Synchronization

/// Protects a value that threads use for an append or a removal at most.
///
/// `@unchecked Sendable`: only the thread that has the mutex touches the value.
final class ShortLock<Value>: @unchecked Sendable {
    private let mutex = Mutex(())
    /// Shows ThreadSanitizer the order that the mutex makes, which it does not see by itself.
    private let order = Atomic(false)
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        mutex.withLock { _ in locked(body) }
    }

    /// Does nothing, and returns nil, while another thread uses the value.
    func withLockIfAvailable<Result: Sendable>(_ body: (inout Value) -> Result) -> Result? {
        mutex.withLockIfAvailable { _ in locked(body) }
    }

    private func locked<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        _ = order.load(ordering: .acquiring)
        defer { order.store(true, ordering: .releasing) }
        return body(&value)
    }
}
