// The posts of one session that wait for those before them.

/// Posts of one session run one at a time, in the order in which they came.
struct PostQueue {
    private var isRunning = false
    private var waiting = RequestQueue()

    /// False when another one is running: the post waits, and whoever runs that one runs it afterwards.
    mutating func begin(_ post: IncomingRequest) -> Bool {
        if isRunning { waiting.append(post) }
        defer { isRunning = true }
        return !isRunning
    }

    mutating func next() -> IncomingRequest? {
        let next = waiting.popFirst()
        if next == nil { isRunning = false }
        return next
    }
}
