// What one thread tells another that does not sleep.

import Synchronization

/// Looked at without a lock: whoever waits for one sleeps.
final class Flag: Sendable {
    let isSet = Atomic(false)
}
