// The errors this end finds by itself, each made in one place.

import RPCWire

extension RPCError {
    static let deadlineExceeded = deadlineExceeded(nil)

    /// - Parameter why: why there is no connection any more over which a reply could have come.
    static func deadlineExceeded(_ why: String?) -> RPCError {
        let text = "no reply came within the time allowed for the call"
        let more = why.map { "; the connection is lost and was not made again: \($0)" } ?? ""
        return RPCError(.deadlineExceeded, text + more, outcome: .unknown)
    }

    static func unavailable(_ why: String) -> RPCError {
        RPCError(
            .unavailable, "the call could not be sent within the time allowed for it: \(why)", outcome: .notExecuted)
    }

    static func connectionLost(_ why: String) -> RPCError {
        RPCError(
            .connectionLost, "the connection was lost before the reply came: \(why)", outcome: .unknown,
            underlying: PeerUnreachable(description: why))
    }

    /// The call has not been sent and does not wait until it can be.
    static func unreachable(_ why: String) -> RPCError {
        RPCError(
            .unavailable, "the call could not be sent: \(why)", outcome: .notExecuted,
            underlying: PeerUnreachable(description: why))
    }

    package static func closed(outcome: Outcome) -> RPCError {
        RPCError(.closed, "the client was closed", outcome: outcome)
    }

    static let noTimeLeft = RPCError(
        .deadlineExceeded, "the time allowed for the call was over before it was sent", outcome: .notExecuted)

    static func tooLarge(_ size: Int, limit: Int) -> RPCError {
        RPCError(
            .requestTooLarge, "the call has \(size) bytes; a message may have \(limit) (maximumFrameSize)",
            outcome: .notExecuted)
    }

    /// For the calls to a peer whose connection has ended; those that were sent become `.unknown`.
    package static func gone(_ why: String) -> RPCError {
        RPCError(.connectionLost, "the peer is gone: \(why)", outcome: .notExecuted)
    }

    static func tooManyPosts(_ limit: Int) -> RPCError {
        RPCError(
            .busy, "\(limit) bytes of posts wait at this end already (maximumPendingPostBytes)",
            outcome: .notExecuted)
    }

    static func tooManyPending(_ limit: Int) -> RPCError {
        RPCError(
            .busy, "\(limit) calls are pending at this end already (maximumPendingCalls)", outcome: .notExecuted)
    }
}
