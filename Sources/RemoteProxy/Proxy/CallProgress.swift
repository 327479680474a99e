// How far a chain of subjects has come with one call. Only the end of a chain knows: the object that is here, or the remote
// subject. The error that a layer before it throws does not tell.

import RPCSockets
import RPCWire

/// Made for each call that comes over a connection and passes through a chain, so that its answer never claims more than is
/// known. Shared by the layers of the chain, which may call an end several times, or go on without waiting for one.
final class CallProgress: Sendable {
    private struct State {
        /// Attempts that have reached an object here, or a connection, and not ended.
        var inObject = 0
        var onTheWay = 0
        /// The most that an attempt has come to.
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

    /// An attempt reaches an end of the chain.
    /// - Parameter meanwhile: what is known of it until it ends: `.executed` at an object, else `.unknown`.
    func begin(_ meanwhile: RPCError.Outcome) {
        state.withLock { state in
            if meanwhile == .executed { state.inObject += 1 } else { state.onTheWay += 1 }
        }
    }

    /// An attempt that began so has ended.
    func end(_ meanwhile: RPCError.Outcome, as outcome: RPCError.Outcome) {
        state.withLock { state in
            if meanwhile == .executed { state.inObject -= 1 } else { state.onTheWay -= 1 }
            state.most = .more(state.most, outcome)
        }
    }

    /// Something else that may have done the work, such as another caller's call whose result this one waits for.
    func note(_ outcome: RPCError.Outcome) { state.withLock { $0.most = .more($0.most, outcome) } }
}

/// A chain of subjects as it answers calls from the other end of a connection.
extension Subject {
    /// Performs the call for the other end.
    /// - Throws: what the chain throws, with what became of the work where the error itself does not say.
    func answer<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        let progress = CallProgress()
        var method = method
        method.progress = progress
        do {
            return try await call(method, arguments)
        } catch let error as RPCError {
            throw error
        } catch {
            if !tellsProgress { progress.note(.unknown) }
            throw ChainFailure(error: error, outcome: progress.outcome)
        }
    }
}

/// What a chain threw that says nothing of the work, with what became of that.
struct ChainFailure: Error {
    let error: any Error
    let outcome: RPCError.Outcome
}
