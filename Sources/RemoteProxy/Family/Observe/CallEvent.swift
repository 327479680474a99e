// What an observer is told when a call has ended or a post has been handed on.

/// One call or post, seen from the place in the stack where `observed` stands.
public struct CallEvent: Sendable {
    /// How it ended.
    public enum Outcome: Sendable {
        /// With a result.
        case returned
        /// With an error: the subject's, an `RPCError`, or `CancellationError`.
        case threw(any Error)
        /// A post: nobody is told how those end.
        case posted
    }

    /// What was called; `rpc.hold` when the subject was taken with `exclusively`.
    public let method: MethodSignature
    /// For whom; nil for a call that began in this process.
    public let caller: Caller?
    /// From entering the subject to leaving it; of a post, how long its caller was held up.
    public let duration: Duration
    /// How it ended.
    public let outcome: Outcome
}

extension CallEvent: CustomStringConvertible {
    /// What happened in one line: what was called, for whom, how it ended, and how long it took.
    public var description: String {
        let whom = caller.map { " for \($0.address)" } ?? ""
        let end =
            switch outcome {
            case .returned: "returned"
            case .threw(let error): "threw \(error)"
            case .posted: "was posted"
            }
        return "\(method)\(whom) \(end) after \(duration)"
    }
}
