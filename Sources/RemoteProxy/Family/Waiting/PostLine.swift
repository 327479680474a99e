// Posts that wait in a subject until they can be delivered.

/// A post with its arguments, to be delivered through any subject.
typealias Delivery<Service: Sendable> = @Sendable (any Subject<Service>) async -> Void

/// Posts in the order in which they came, up to a limit. Part of its owner's locked state.
struct PostLine<Service: Sendable> {
    private let limit: Int
    private var posts: [Delivery<Service>] = []

    /// - Parameter limit: how many wait at most.
    init(limit: Int) { self.limit = limit }

    var count: Int { posts.count }

    /// Adds a post at the end. False when the line is full.
    mutating func keep(_ delivery: () -> Delivery<Service>) -> Bool {
        guard posts.count < limit else { return false }
        posts.append(delivery())
        return true
    }

    /// Removes the first post.
    mutating func next() -> Delivery<Service>? { posts.isEmpty ? nil : posts.removeFirst() }

    /// Removes all posts and returns them in order.
    mutating func takeAll() -> [Delivery<Service>] {
        defer { posts = [] }
        return posts
    }
}

extension Post {
    /// The post with its arguments, for delivery later on behalf of the present caller.
    func kept(_ arguments: Arguments) -> Delivery<Service> {
        let scope = CallScope.current?.later
        return { subject in
            await CallScope.with(scope) { await self(through: subject, arguments) }
        }
    }
}
