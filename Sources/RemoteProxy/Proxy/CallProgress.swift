// How far a chain of subjects has come with one call. Only the end of a chain knows that: the object in this process, or the
// remote subject. An error that an outer layer throws does not tell.

import RPCSockets
import RPCWire

/// Made for each call that comes over a connection and passes through a chain, so that its answer never claims more than is
/// known. Shared by the layers of the chain, which may call an end several times, or go on without waiting for it.
final class CallProgress: Sendable {
    private struct State {
        /// Attempts that have reached an object here and have not ended.
        var inObject = 0
        var onTheWay = 0
        /// The outcome that admits the most work, of the attempts that have ended.
        var most = RPCError.Outcome.notExecuted
    }

    private let state = Lock(State())

    /// What has become of the work so far.
    var outcome: RPCError.Outcome {
        state.withLock { state in
            if state.inObject > 0 { return .executed }
            return state.onTheWay > 0 ? .more(state.most, .unknown) : state.most
        }
    }

    /// Called when an attempt reaches an end of the chain.
    /// - Parameter meanwhile: what is known of the attempt until it ends: `.executed` at an object, otherwise `.unknown`.
    func begin(_ meanwhile: RPCError.Outcome) {
        state.withLock { state in
            if meanwhile == .executed { state.inObject += 1 } else { state.onTheWay += 1 }
        }
    }

    /// Called when an attempt has ended that began with the same `meanwhile`.
    func end(_ meanwhile: RPCError.Outcome, as outcome: RPCError.Outcome) {
        state.withLock { state in
            if meanwhile == .executed { state.inObject -= 1 } else { state.onTheWay -= 1 }
            state.most = .more(state.most, outcome)
        }
    }

    /// Notes anything else that may have done the work, such as another caller's call whose result this one waits for.
    func add(_ outcome: RPCError.Outcome) { state.withLock { $0.most = .more($0.most, outcome) } }
}

/// A chain of subjects, as it answers calls from the other end of a connection.
extension Subject {
    /// Performs the call for the other end.
    /// - Throws: what the chain throws; wrapped in `ChainFailure` where the error itself does not say what became of the work.
    func answer<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        let progress = CallProgress()
        let method = Method(method, telling: progress)
        do {
            return try await call(method, arguments)
        } catch let error as RPCError {
            throw error
        } catch {
            if !tellsProgress { progress.add(.unknown) }
            throw ChainFailure(error: error, outcome: progress.outcome)
        }
    }
}

/// An error that says nothing of the work, with what became of the work.
struct ChainFailure: Error {
    let error: any Error
    let outcome: RPCError.Outcome
}
