// What code that blocks is made of in tests: keeps whoever comes until it is opened, and their threads with them.

import Glibc

/// `@unchecked Sendable`: a semaphore may be used by all threads.
package final class Barrier: @unchecked Sendable {
    private let passes = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    package init() { sem_init(passes, 0, 0) }

    deinit {
        sem_destroy(passes)
        passes.deallocate()
    }

    /// Blocks the thread until there is a pass for it.
    package func wait() {
        // A signal interrupts it.
        while sem_wait(passes) != 0 {}
    }

    /// Lets so many go on, those who wait or come later.
    package func open(for count: Int = 1) {
        for _ in 0..<count { sem_post(passes) }
    }
}
