// The report of posts that were dropped in this process before they could be delivered.

import RPCSockets
import RPCWire

/// Posts that were dropped in this process: because too many were waiting for their object or their turn, because the hold
/// under which they were made had ended, or because a policy denied them.
///
/// The caller of a post never learns what became of it. So dropped posts are counted here and logged.
public enum DroppedPosts {
    private struct State {
        var count = 0
        var nextLine = 1
        var log: @Sendable (LogRecord) -> Void = LogRecord.standardError
    }

    private static let state = Lock(State())

    /// How many posts have been dropped so far.
    public static var count: Int { state.withLock { $0.count } }

    /// Logs dropped posts to a function of yours, instead of standard error or the function given before.
    ///
    /// There is a record for the first dropped post, and one whenever their number has doubled since the last record. The
    /// function is called on the thread that posts, so it must not wait for long. `ServerCommand` logs them into its server's
    /// log.
    public static func log(to log: @escaping @Sendable (LogRecord) -> Void) {
        state.withLock { $0.log = log }
    }

    /// Counts a dropped post, and logs it if a record is due.
    /// - Parameters:
    ///   - post: its name on the wire.
    ///   - why: the reason, which names the limit.
    static func add(_ post: String, because why: String) {
        let (count, log) = state.withLock { state -> (Int, (@Sendable (LogRecord) -> Void)?) in
            state.count += 1
            guard state.count >= state.nextLine else { return (state.count, nil) }
            state.nextLine = state.count * 2
            return (state.count, state.log)
        }
        let text = "the post \(post) was dropped: \(why); dropped in this process so far: \(count)"
        log?(LogRecord(.error, text, method: post))
    }
}
