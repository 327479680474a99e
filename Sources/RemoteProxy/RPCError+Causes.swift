// The errors that this end detects itself, or that several of its parts answer with. Each is made in one place.

import RPCWire

extension RPCError {
    /// The error of a call that ended without a reply, or did not begin. Nil if its caller was cancelled.
    init?(_ failure: CallFailure) {
        switch failure {
        case .cancelled: return nil
        case .noTimeLeft:
            self.init(
                .deadlineExceeded, "the time allowed for the call was over before it was sent", outcome: .notExecuted)
        case .tooManyPending(let most):
            self.init(
                .busy, "calls that take \(most) bytes are pending at this end already (maximumPendingCallBytes)",
                outcome: .notExecuted)
        case .tooManyPosts(let most):
            self.init(
                .busy, "\(most) bytes of posts wait at this end already (maximumPendingPostBytes)",
                outcome: .notExecuted)
        case .noRoomInAll:
            self.init(
                .busy, "the server keeps as many bytes for its peers as it may (maximumBytesInAll)",
                outcome: .notExecuted)
        case .tooLarge(let size, let most):
            self.init(
                .requestTooLarge, "the call has \(size) bytes; a message may have \(most) (maximumFrameSize)",
                outcome: .notExecuted)
        case .unreachable(let why):
            self.init(
                .unavailable, "the call could not be sent: \(why)", outcome: .notExecuted,
                underlying: PeerUnreachable(description: why))
        case .objectGone: self = .objectGone
        case .holdEnded: self = .holdEnded
        case .closed(let wasSent): self = .closed(outcome: wasSent ? .unknown : .notExecuted)
        case .unavailable(let why): self = .unavailable(why)
        case .heldBack(let why):
            self.init(
                .deadlineExceeded, "the time allowed for the call was over before it was sent: \(why)",
                outcome: .notExecuted)
        case .deadlineExceeded(let why): self = .deadlineExceeded(why)
        case .connectionLost(let why):
            self.init(
                .connectionLost, "the connection was lost before the reply came: \(why)", outcome: .unknown,
                underlying: PeerUnreachable(description: why))
        case .turnedAway(let why, let wasSent):
            self = RPCError(.unauthenticated, why, outcome: wasSent ? .unknown : .notExecuted)
        }
    }

    /// This error with the outcome of earlier attempts at the same call: the last one's `.notExecuted` says nothing of those.
    func after(_ earlier: Outcome) -> RPCError {
        var error = self
        error.outcome = .more(outcome, earlier)
        return error
    }

    static let deadlineExceeded = deadlineExceeded(nil)

    /// - Parameter why: why the connection over which a reply could have come is gone; nil if it is not.
    static func deadlineExceeded(_ why: String?) -> RPCError {
        let text = "no reply came within the time allowed for the call"
        let more = why.map { "; the connection is lost and was not made again: \($0)" } ?? ""
        return RPCError(.deadlineExceeded, text + more, outcome: .unknown)
    }

    static func unavailable(_ why: String) -> RPCError {
        RPCError(
            .unavailable, "the call could not be sent within the time allowed for it: \(why)", outcome: .notExecuted)
    }

    /// For `connect`.
    static func notConnected(_ why: String, _ code: Code = .unavailable) -> RPCError {
        RPCError(
            code, "there is no connection: \(why)", outcome: .notExecuted,
            underlying: PeerUnreachable(description: why))
    }

    package static func closed(outcome: Outcome) -> RPCError {
        RPCError(.closed, "the client was closed", outcome: outcome)
    }

    /// For calls to a peer whose connection has ended. For calls that were sent the outcome becomes `.unknown`.
    package static func gone(_ why: String) -> RPCError {
        RPCError(.connectionLost, "the peer is gone: \(why)", outcome: .notExecuted)
    }

    static func wrongParameters(of method: String, _ reason: String) -> RPCError {
        RPCError(.invalidArguments, "\(method) was called with wrong parameters: \(reason)", outcome: .notExecuted)
    }

    static let cannotBeHeld = RPCError(
        .noSuchMethod, "this proxy cannot be held: no subject in it is locked; put .locked() around the object",
        outcome: .notExecuted)

    static let objectGone = RPCError(
        .noSuchObject, "the object belongs to a session that is over; ask its end for it again", outcome: .notExecuted)

    /// - Parameter handle: what a peer has named.
    static func noSuchObject(_ service: String, _ handle: Int64) -> RPCError {
        RPCError(
            .noSuchObject,
            "there is no object \(service)[#\(handle)]: it was given back, is of another service or session, or never was",
            outcome: .notExecuted)
    }

    static func tooManyObjects(_ most: Int, _ place: String, _ limit: Limit) -> RPCError {
        RPCError(.busy, "more than \(most) objects by reference \(place) (\(limit))", outcome: .notExecuted)
    }

    static let holdEnded = RPCError(
        .holdEnded, "the hold on the subject is over: it was released, its lease ran out, or its session ended",
        outcome: .notExecuted)
}

/// The `underlying` error of an `RPCError` with which a peer has answered: says which peer. It is never sent, since the address
/// of one caller is no business of another.
struct PeerAnswer: Error, CustomStringConvertible {
    let description: String
}

/// The `underlying` error of an `RPCError` when the call ended because the connection was lost or could not be made. It is
/// never sent, so an error of the same code from the other end can be told apart.
struct PeerUnreachable: Error, CustomStringConvertible {
    let description: String
}
