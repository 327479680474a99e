// Why an object that is made when it is wanted is not there, for those that waited for it. None of their calls has run.

extension RPCError {
    /// What making it threw: an `RPCError` as it is, or the cause of one, since a server sends messages to its clients.
    static func notMade(_ name: String, _ error: any Error) -> RPCError {
        guard var error = error as? RPCError else {
            return RPCError(
                .unavailable, "the \(name) could not be made; the next call tries again", outcome: .notExecuted,
                underlying: error)
        }
        error.outcome = .notExecuted
        return error
    }

    static func notMadeInTime(_ name: String) -> RPCError {
        RPCError(
            .deadlineExceeded, "the \(name) was not made within the time allowed for the call (timeout)",
            outcome: .notExecuted)
    }
}
