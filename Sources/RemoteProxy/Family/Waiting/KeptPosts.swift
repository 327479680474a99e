// Posts that cannot be delivered yet, in the order they came. Part of its owner's locked state.
//
// As soon as one is kept all that follow are kept too, until the last one has been delivered: a post never overtakes
// another. Whoever can deliver calls `begin` and, when that says yes, takes one after the other until there is none.

struct KeptPosts<Service: Sendable> {
    /// A post with its arguments, for any subject.
    typealias Delivery = @Sendable (any Subject<Service>) async -> Void

    private let limit: Int
    private var posts: [Delivery?] = []
    private var head = 0
    private(set) var count = 0
    private var isDelivering = false

    /// - Parameter limit: how many are kept at most.
    init(limit: Int) { self.limit = limit }

    /// Whether a new post would overtake another if it were delivered at once.
    var areAhead: Bool { isDelivering || count > 0 }

    /// Keeps one for later. False when there are as many as may be: it is not kept.
    mutating func keep(_ delivery: @escaping Delivery) -> Bool {
        guard count < limit else { return false }
        posts.append(delivery)
        count += 1
        return true
    }

    /// Whether there is something to deliver and nobody does it: then the caller does.
    mutating func begin() -> Bool {
        guard !isDelivering, count > 0 else { return false }
        isDelivering = true
        return true
    }

    /// The next to deliver; nil ends the delivery.
    mutating func next() -> Delivery? {
        guard head < posts.count else {
            posts = []
            head = 0
            isDelivering = false
            return nil
        }
        defer {
            posts[head] = nil
            head += 1
            count -= 1
            if head >= 256, head * 2 >= posts.count {
                posts.removeFirst(head)
                head = 0
            }
        }
        return posts[head]
    }

    /// Stops delivering with posts left, which keep their places.
    mutating func pause() { isDelivering = false }

    /// Lets go of all.
    mutating func removeAll() -> Int {
        defer {
            posts = []
            head = 0
            count = 0
        }
        return count
    }
}
