// What becomes known of posts that were dropped in this process before they could be delivered.

import RPCSockets
import RPCWire

/// Counts and logs posts that were dropped: because too many were waiting for their object or their turn, because the hold under
/// which they were made had ended, or because a policy denied them. The caller of a post never learns what became of it.
enum DroppedPosts {
    private static let here = Lock(0)

    /// How many posts that began in this process have been dropped.
    static var count: Int { here.withLock { $0 } }

    /// Counts a dropped post, and logs it whenever their number has doubled. A post from another end goes into the counters of
    /// the server and the log of that connection, any other to standard error.
    /// - Parameters:
    ///   - post: its name on the wire.
    ///   - why: the reason, which names the limit.
    ///   - sender: the end that has sent the post. Nil if it began in this process.
    static func add(_ post: String, because why: String, from sender: Requester? = CallScope.current?.caller?.requester)
    {
        let count: Int
        if let traffic = sender?.account.traffic {
            count = traffic.countDroppedPost()
        } else {
            count = here.withLock { count in
                count += 1
                return count
            }
        }
        guard count & (count - 1) == 0 else { return }
        let text = "the post \(post) was dropped: \(why); dropped so far: \(count)"
        (sender?.log ?? LogRecord.standardError)(LogRecord(.error, text, method: post))
    }
}
