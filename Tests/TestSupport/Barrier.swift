// What code that blocks is made of in tests: keeps whoever comes until it is opened, and their threads with them.

import Foundation

/// `@unchecked Sendable`: `passes` is touched under the lock of `condition`.
package final class Barrier: @unchecked Sendable {
    private let condition = NSCondition()
    private var passes = 0

    package init() {}

    /// Blocks the thread until there is a pass for it.
    package func wait() {
        condition.lock()
        while passes == 0 { condition.wait() }
        passes -= 1
        condition.unlock()
    }

    /// Lets so many go on, those who wait or come later.
    package func open(for count: Int = 1) {
        condition.lock()
        passes += count
        condition.broadcast()
        condition.unlock()
    }
}
