// Posts that wait for a policy that takes its time: judged and delivered one after the other, in the order they came.

import RPCSockets
import RPCWire

final class GuardedPosts<Service: Sendable>: Sendable {
    /// How many may wait.
    static var limit: Int { 1_000 }

    private struct State {
        var posts = PostLine<Service>(limit: GuardedPosts.limit)
        var isDelivering = false

        /// The next to deliver. Nil ends the delivery.
        mutating func next() -> Delivery<Service>? {
            let delivery = posts.next()
            isDelivering = delivery != nil
            return delivery
        }
    }

    private let next: any Subject<Service>
    private let clock: any Loop
    private let state = Lock(State())

    init(_ next: any Subject<Service>, _ clock: any Loop) {
        self.next = next
        self.clock = clock
    }

    /// False when too many are waiting: the post is not kept.
    func add(_ delivery: @escaping Delivery<Service>, if isAllowed: @escaping @Sendable () async -> Bool) -> Bool {
        // Judged on behalf of its sender, in the policy's own time.
        let scope = CallScope.current?.later
        let (isKept, begins) = state.withLock { state in
            let isKept = state.posts.keep {
                { subject in
                    guard await CallScope.with(scope, { await isAllowed() }) else { return }
                    await delivery(subject)
                }
            }
            defer { state.isDelivering = true }
            return (isKept, !state.isDelivering)
        }
        if begins {
            Task(executorPreference: clock) { [self] in
                while let deliver = state.withLock({ $0.next() }) { await deliver(next) }
            }
        }
        return isKept
    }
}
