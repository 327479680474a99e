// Why somebody does not get a locked subject, each reason made in one place.

extension RPCError {
    static let stillLocked = RPCError(
        .deadlineExceeded, "the time allowed for the call was over before its turn with the locked subject came",
        outcome: .notExecuted)

    static let waitsForItself = RPCError(
        .busy,
        "the call would wait for the call in which it is made: the subject calls itself through its own lock; "
            + "give it a proxy from inside the lock", outcome: .notExecuted)

    static let cannotBeHeld = RPCError(
        .unimplemented, "this proxy cannot be held: no subject in it is locked; put .locked() around the object",
        outcome: .notExecuted)

    static let holdEnded = RPCError(
        .holdEnded, "the hold on the subject is over: it was released, its lease ran out, or its session ended",
        outcome: .notExecuted)

    static func leaseTooLong(_ lease: Duration, limit: Duration) -> RPCError {
        RPCError(
            .invalidArguments, "a lease of \(lease) was asked for; it may last \(limit) (maximumLease)",
            outcome: .notExecuted)
    }

    static let nameOfHold = RPCError(
        .invalidArguments,
        "rpc.hold was called with a wrong name: it begins with '~', has no ']', is at most 64 bytes long and not in use",
        outcome: .notExecuted)

    static func noSuchObject(_ object: String, _ exports: Exports) -> RPCError {
        RPCError(.unimplemented, "there is no object \(object); \(exports.listing)", outcome: .notExecuted)
    }

    static func tooManyHolds(_ limit: Int) -> RPCError {
        RPCError(.busy, "the session holds \(limit) objects already (maximumHolds)", outcome: .notExecuted)
    }
}
