// Posts that wait for a policy that takes its time: judged and delivered one after the other, in the order they came.

import RPCSockets
import RPCWire

final class GuardedPosts<Service: Sendable>: Sendable {
    /// How many may wait.
    static var limit: Int { 1_000 }

    private let next: any Subject<Service>
    private let clock: any Loop
    private let posts = Lock(KeptPosts<Service>(limit: GuardedPosts.limit))

    init(_ next: any Subject<Service>, _ clock: any Loop) {
        self.next = next
        self.clock = clock
    }

    /// False when too many are waiting: the post is not kept.
    func add(
        _ deliver: @escaping KeptPosts<Service>.Delivery, if isAllowed: @escaping @Sendable () async -> Bool
    ) -> Bool {
        // Judged on behalf of whoever posted it, in the policy's own time.
        let scope = CallScope.current?.later
        let (isKept, begins) = posts.withLock { posts in
            let isKept = posts.keep { subject in
                guard await CallScope.with(scope, { await isAllowed() }) else { return }
                await deliver(subject)
            }
            return (isKept, posts.begin())
        }
        if begins {
            Task(executorPreference: clock) { [self] in
                while let deliver = posts.withLock({ $0.next() }) { await deliver(next) }
            }
        }
        return isKept
    }
}
