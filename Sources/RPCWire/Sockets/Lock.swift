// A value and the lock that guards it. Same shape as the standard library's `Mutex`, on the system's own mutex instead:
// ThreadSanitizer knows that one, and so can tell our locks from our races. Equally fast when nobody else wants it.

package import CSystem

/// A value that is only ever touched under its lock. Never call out from `withLock`: whoever is called may come back.
///
/// `@unchecked Sendable`: the value is reached through the mutex beside it and in no other way.
package final class Lock<Value: ~Copyable>: @unchecked Sendable {
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    package init(_ value: consuming sending Value) {
        // One behind the other, in one piece: every connection has several of these.
        let alignment = MemoryLayout<Value>.alignment
        let offset = (MemoryLayout<pthread_mutex_t>.size + alignment - 1) / alignment * alignment
        let block = UnsafeMutableRawPointer.allocate(
            byteCount: offset + MemoryLayout<Value>.size, alignment: max(16, alignment))
        mutex = block.bindMemory(to: pthread_mutex_t.self, capacity: 1)
        self.value = (block + offset).bindMemory(to: Value.self, capacity: 1)
        _ = system_mutex_init(mutex)
        self.value.initialize(to: value)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        value.deinitialize(count: 1)
        // Both: it is the beginning of the piece.
        mutex.deallocate()
    }

    /// Runs `body` with the value, alone. Inlinable, because every call of every caller comes through here, from modules
    /// to whom it would otherwise be a generic function called through its metadata.
    @inlinable
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        // The compiler cannot see that the mutex makes the value this task's own.
        nonisolated(unsafe) let value = self.value
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
