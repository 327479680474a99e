// Which error an act expects.

import RemoteProxy

struct ExpectedFailure {
    let text: String
    let matches: (any Error) -> Bool

    /// This very error, of this very type.
    static func typed<Failure: Error & Equatable>(_ failure: Failure) -> Self {
        Self(text: spoken(failure)) { $0 as? Failure == failure }
    }

    /// An `RPCError` with this code that says this of the work; nil where either end may be the first to find out, and
    /// they know different things.
    static func rpc(_ code: RPCError.Code, _ outcome: RPCError.Outcome?) -> Self {
        Self(text: "an RPCError (\(code.rawValue), \(outcome?.rawValue ?? "any outcome"))") { error in
            guard let error = error as? RPCError else { return false }
            return error.code == code && error.outcome == outcome ?? error.outcome
        }
    }

    static var cancellation: Self {
        Self(text: "a CancellationError") { $0 is CancellationError }
    }
}
