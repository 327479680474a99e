// What an event of the calling half leaves to be done, and how a call ends that has no reply.

package struct CallerEffects {
    package struct Ended {
        package let call: CallHandle
        package let failure: CallFailure
    }

    package enum Sent {
        case call(CallHandle, id: Int64)
        /// A post, without the end of its message.
        case post(Bytes, number: Int64)
    }

    // Under the lock, in this order.

    /// Calls that have new numbers.
    package var renumbered: [(id: Int64, handle: CallHandle)] = []
    /// Calls that the other end is to be told to stop.
    package var cancels: [(id: Int64, over: Int)] = []
    /// What goes out over the current stream.
    package var sends: [Sent] = []
    /// The end of this stream is to say which posts it has.
    package var reportOver: Int?

    // After it.

    /// Calls that have left the table, whose callers are told.
    package var ended: [Ended] = []
    /// Streams that take no new calls, and from which nothing is awaited any more.
    package var finished: [Int] = []
    package var lost = LostPosts()
    package var whyLost = ""
    /// Posts that were lost because they were too late or too long when they could have been sent.
    package var dropped = 0
    /// Posts that were refused before, of which the log has not been told.
    package var untoldRefusals = 0
    /// The last post that was pending when the half was closed is settled.
    package var isSettled = false
    /// When the driver's timer is to be due.
    package var wakeAt: Instant?
    package var wantsConnection = false

    package init() {}

    mutating func end(_ calls: [OutgoingCalls.Removed], _ failure: (_ wasSent: Bool) -> CallFailure) {
        for call in calls { ended.append(Ended(call: call.handle, failure: failure(call.wasSent))) }
    }
}

/// Why a call or post did not begin, or ended without a reply. The driver puts it into words.
package enum CallFailure: Error, Hashable {
    // It did not begin.
    case noTimeLeft
    case tooManyPending(most: Int)
    case tooManyPosts(mostBytes: Int)
    case tooLarge(Int, most: Int)
    /// No connection can be had, and the call does not wait for one.
    case unreachable(String)

    // It ended.
    case cancelled(wasSent: Bool)
    case closed(wasSent: Bool)
    /// Its deadline came before it could be sent.
    case unavailable(String)
    /// Its deadline came before its reply.
    /// - Parameter why: why there is no connection any more over which the reply could have come.
    case deadlineExceeded(_ why: String?)
    case connectionLost(String)
    /// The other end does not let this one in.
    case turnedAway(String, wasSent: Bool)
}
