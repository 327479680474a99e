// What the driver must do after an event of the calling half, and how a call without a reply ends.

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

    // To be done under the driver's lock, in this order.

    /// Calls that have new numbers.
    package var renumbered: [(id: Int64, handle: CallHandle)] = []
    /// Calls that the peer must be told to stop, each with the channel to use.
    package var cancels: [(id: Int64, over: Int)] = []
    /// Messages to send over the current channel; from `CallerHalf.takeWaiting` only.
    package var sends: [Sent] = []
    /// The peer must be asked over this channel which posts it has.
    package var reportOver: Int?

    // To be done after the lock is released.

    /// Calls that have left the table. Their callers must be told.
    package var ended: [Ended] = []
    /// Channels that take no new calls, and from which nothing is awaited any more.
    package var finished: [Int] = []
    package var lost = LostPosts()
    package var lossReason = ""
    /// How many posts were too late or too long when they could have been sent, and so were lost.
    package var dropped = 0
    /// How many posts were refused before that the log has not been told of.
    package var untoldRefusals = 0
    /// The last post that was pending when the half was closed has been acknowledged or lost.
    package var isSettled = false
    /// When the driver's timer must be due.
    package var wakeAt: Instant?
    package var wantsConnection = false

    package init() {}

    mutating func end(_ calls: [OutgoingCalls.Removed], _ failure: (_ wasSent: Bool) -> CallFailure) {
        for call in calls { ended.append(Ended(call: call.handle, failure: failure(call.wasSent))) }
    }
}

/// Why a call or a post did not begin, or ended without a reply. The driver turns it into an error text.
package enum CallFailure: Error, Hashable {
    // It did not begin.
    case noTimeLeft
    case tooManyPending(mostBytes: Int)
    case tooManyPosts(mostBytes: Int)
    /// As much is kept for all peers as may be.
    case noRoomInAll
    case tooLarge(Int, most: Int)
    /// There is no connection, and the call does not wait for one.
    case unreachable(String)
    /// It names an object of a session that is over.
    case objectGone
    /// It was made under a hold that has ended.
    case holdEnded

    // It ended.
    case cancelled(wasSent: Bool)
    case closed(wasSent: Bool)
    /// The deadline came before the call could be sent, since there was no connection.
    case unavailable(String)
    /// The deadline came while the call waited for its turn with a connection.
    case heldBack(String)
    /// The deadline came before the reply.
    /// - Parameter why: why the connection is gone over which the reply could have come; nil if it is not gone.
    case deadlineExceeded(_ why: String?)
    case connectionLost(String)
    /// The peer refuses connections of this end.
    case turnedAway(String, wasSent: Bool)
}
