// The posts of one session that wait for those before them.

import RPCWire

/// Posts of one session run one at a time, in the order in which they came.
struct PostQueue: ~Copyable {
    private var isRunning = false
    private var waiting = RequestQueue()
    /// Posts that come together share the memory that they came in with, and leave it soon. When those that wait hold as much
    /// of it as this, each that follows has its own.
    private static let maximumChunks = 16
    private var chunks = 0
    private var lastChunk: ObjectIdentifier?

    /// Gives the post back if it may begin. Nil when another one is running: it waits, and whoever runs that one runs it
    /// afterwards.
    mutating func begin(_ post: consuming IncomingRequest) -> IncomingRequest? {
        guard !isRunning || post.isNextPost else {
            if hold(post.chunk) > Self.maximumChunks { post.waitsForLong() }
            waiting.append(post)
            return nil
        }
        isRunning = true
        return post
    }

    mutating func next() -> IncomingRequest? {
        if waiting.isEmpty {
            isRunning = false
            (chunks, lastChunk) = (0, nil)
        }
        return waiting.popFirst()
    }

    /// Answers how many different ones those that wait have come in with.
    private mutating func hold(_ chunk: ByteChunk?) -> Int {
        guard let chunk, lastChunk != ObjectIdentifier(chunk) else { return chunks }
        lastChunk = ObjectIdentifier(chunk)
        chunks += 1
        return chunks
    }
}
