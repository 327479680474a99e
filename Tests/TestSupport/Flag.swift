// What one thread tells another that does not sleep.

import Synchronization

/// Looked at without a lock: whoever waits for one sleeps.
package final class Flag: Sendable {
    private let isSet = Atomic(false)

    package init() {}

    package var isRaised: Bool { isSet.load(ordering: .acquiring) }
    package func raise() { isSet.store(true, ordering: .releasing) }
}
