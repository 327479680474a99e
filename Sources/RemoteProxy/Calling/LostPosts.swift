// How many posts were lost by one event, in words for the log: a post reports nothing to its caller, so the log is the only
// place left.

struct LostPosts {
    /// They were never given to a connection.
    var unsent = 0
    /// They were given to a connection, and the other end has not said that it has them.
    var unacknowledged = 0

    var count: Int { unsent + unacknowledged }

    /// "1 post was", "2 posts were"
    static func text(_ count: Int) -> String { count == 1 ? "1 post was" : "\(count) posts were" }

    func text(because why: String) -> String {
        let perhaps =
            "\(unacknowledged == 1 ? "1 post" : "\(unacknowledged) posts") that had been sent and not acknowledged"
        guard unsent > 0 else { return "\(perhaps) may or may not have been delivered: \(why)" }
        guard unacknowledged > 0 else { return "\(Self.text(unsent)) not delivered: \(why)" }
        return "\(Self.text(unsent)) not delivered, and \(perhaps) may or may not have been: \(why)"
    }
}

extension Peer {
    /// Posts were lost. One line, however many.
    func tell(_ lost: LostPosts, because why: String) {
        if lost.count > 0 { log(lost.text(because: why)) }
    }

    /// Posts were lost because they were too late or too large when they could have been sent.
    func tellOfLost(posts count: Int) {
        tell(
            LostPosts(unsent: count),
            because:
                "too late for their deadline (timeout), or longer than a message to the other end may be (maximumFrameSize)"
        )
    }
}
