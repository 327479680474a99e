// What code that blocks is made of in tests: keeps whoever comes until it is opened, and their threads with them.

import CSystem

/// `@unchecked Sendable`: `passes` is touched under `mutex`, and the pointers never change.
package final class Barrier: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let opened = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var passes = 0

    package init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(opened, nil)
    }

    deinit {
        pthread_cond_destroy(opened)
        pthread_mutex_destroy(mutex)
        opened.deallocate()
        mutex.deallocate()
    }

    /// Blocks the thread until there is a pass for it.
    package func wait() {
        pthread_mutex_lock(mutex)
        while passes == 0 { pthread_cond_wait(opened, mutex) }
        passes -= 1
        pthread_mutex_unlock(mutex)
    }

    /// Lets so many go on, those who wait or come later.
    package func open(for count: Int = 1) {
        pthread_mutex_lock(mutex)
        passes += count
        pthread_cond_broadcast(opened)
        pthread_mutex_unlock(mutex)
    }
}
