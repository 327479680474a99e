// A value with the lock that guards it. Works like the standard library's `Mutex`, but uses the system's mutex. ThreadSanitizer
// knows that one, and so can tell locks from races. Both are equally fast if no other thread holds the lock.

import CSystem

/// The system's mutex. It is reached through these functions, because code that is inlined in other modules cannot import the
/// system's declarations.
@usableFromInline
package struct SystemMutex {
    private var mutex = pthread_mutex_t()

    fileprivate static func begin(_ place: UnsafeMutablePointer<Self>) { _ = system_mutex_init(&place.pointee.mutex) }
    fileprivate static func end(_ place: UnsafeMutablePointer<Self>) { pthread_mutex_destroy(&place.pointee.mutex) }

    @usableFromInline
    static func lock(_ place: UnsafeMutablePointer<Self>) { pthread_mutex_lock(&place.pointee.mutex) }

    @usableFromInline
    static func unlock(_ place: UnsafeMutablePointer<Self>) { pthread_mutex_unlock(&place.pointee.mutex) }
}

/// A value that is touched only under its lock. Never call foreign code in `withLock`, because it may call back. Copies share
/// the value and the lock.
///
/// `@unchecked Sendable`: the value is reached only while the mutex is held.
@usableFromInline
package struct Lock<Value: ~Copyable>: @unchecked Sendable {
    /// The mutex and the value behind it in one allocation, because every connection has several of these.
    private final class Place: ManagedBuffer<SystemMutex, Value> {
        deinit {
            withUnsafeMutablePointers { mutex, value in
                SystemMutex.end(mutex)
                value.deinitialize(count: 1)
            }
        }
    }

    @usableFromInline let place: ManagedBuffer<SystemMutex, Value>

    package init(_ value: consuming sending Value) {
        place = Place.create(minimumCapacity: 1) { _ in SystemMutex() }
        SystemMutex.begin(place.withUnsafeMutablePointerToHeader { $0 })
        place.withUnsafeMutablePointerToElements { $0 }.initialize(to: value)
    }

    /// Runs `body` with the value, while no other thread does. Inlinable, because every call takes locks. Without inlining,
    /// other modules would call a generic function through its metadata.
    @inlinable
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        // The mutex makes the value this task's own, but the compiler cannot see that.
        nonisolated(unsafe) let value = place.withUnsafeMutablePointerToElements { $0 }
        SystemMutex.lock(place.withUnsafeMutablePointerToHeader { $0 })
        defer { SystemMutex.unlock(place.withUnsafeMutablePointerToHeader { $0 }) }
        return try body(&value.pointee)
    }
}

/// An immutable value that several owners share.
package final class Shared<Value: Sendable>: Sendable {
    package let value: Value
    package init(_ value: Value) { self.value = value }
}
