// The errors this end finds by itself, each made in one place.

import RPCWire

extension RPCError {
    static let deadlineExceeded = RPCError(
        .deadlineExceeded, "no reply came within the time allowed for the call", outcome: .unknown)

    static func unavailable(_ why: String) -> RPCError {
        RPCError(
            .unavailable, "the call could not be sent within the time allowed for it: \(why)", outcome: .notExecuted)
    }

    package static func connectionLost(_ why: String) -> RPCError {
        RPCError(
            .connectionLost, "the connection was lost before the reply came: \(why)", outcome: .unknown)
    }

    package static func closed(outcome: Outcome) -> RPCError {
        RPCError(.closed, "the client was closed", outcome: outcome)
    }

    static func tooManyPending(_ limit: Int) -> RPCError {
        RPCError(
            .busy, "\(limit) calls are pending at this end already (maximumPendingCalls)", outcome: .notExecuted)
    }
}
