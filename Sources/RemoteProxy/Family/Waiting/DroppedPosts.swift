// What is left of a post that a proxy had no place for: a count, and a line for whoever looks after the program. Who
// posts is never told what became of it, and a proxy has no log of its own.

import RPCSockets
import RPCWire

/// Posts that were dropped in this process, because as many as may be were waiting for their object or their turn, or
/// because the hold under which they were made had ended.
public enum DroppedPosts {
    private struct State {
        var count = 0
        var nextLine = 1
        var log: @Sendable (String) -> Void = LogStream.log
    }

    private static let state = Lock(State())

    /// How many there have been.
    public static var count: Int { state.withLock { $0.count } }

    /// Sends the lines about them elsewhere than to standard error, in place of where they went before. There is one for the
    /// first, and one whenever there have been twice as many as at the last: a flood of posts is no flood of lines. Called on
    /// the thread of whoever posts, so it is not to wait for long. `ServerCommand` sends them into its server's log.
    public static func log(to log: @escaping @Sendable (String) -> Void) {
        state.withLock { $0.log = log }
    }

    /// - Parameter why: names the limit.
    static func add(_ post: MethodSignature, because why: String) {
        let (count, log) = state.withLock { state -> (Int, (@Sendable (String) -> Void)?) in
            state.count += 1
            guard state.count >= state.nextLine else { return (state.count, nil) }
            state.nextLine = state.count * 2
            return (state.count, state.log)
        }
        log?("the post \(post.wireName) was dropped: \(why); dropped in this process so far: \(count)")
    }
}
