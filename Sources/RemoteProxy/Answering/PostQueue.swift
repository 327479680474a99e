// The posts of one session that wait for those before them.

/// Posts of one session run one at a time, in the order in which they came.
struct PostQueue: ~Copyable {
    private var isRunning = false
    private var waiting = RequestQueue()

    /// Gives the post back if it may begin. Nil when another one is running: it waits, and whoever runs that one runs it
    /// afterwards.
    mutating func begin(_ post: consuming IncomingRequest) -> IncomingRequest? {
        guard !isRunning || post.isNextPost else {
            post.waitsForLong()
            waiting.append(post)
            return nil
        }
        isRunning = true
        return post
    }

    mutating func next() -> IncomingRequest? {
        if waiting.isEmpty { isRunning = false }
        return waiting.popFirst()
    }
}
