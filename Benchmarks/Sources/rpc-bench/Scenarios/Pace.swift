// Calls that begin when they are due, whether those before have ended or not: what many people at once do, who know
// nothing of each other. Latencies count from when a call was made: who makes them waits for no answer, so when it is late
// its machine is.

import BenchSystem
import RawEcho
import RemoteProxy
import Synchronization

/// What came of calls at a given pace.
struct PaceResult: Sendable {
    var served = Latencies()
    var refused = Latencies()
    /// Ended otherwise.
    var wrong = 0
}

/// Calls so many times a second.
func pace(
    perSecond: Double, seconds: Double, leavingOut: Double = 0, _ call: @escaping @Sendable (Int) async throws -> Void
) async throws -> PaceResult {
    let kept = KeptResult()
    let begin = bench_now()
    let counted = begin + UInt64(leavingOut * 1e9)
    await withDiscardingTaskGroup { group in
        for number in 0..<Int(perSecond * seconds) {
            let due = begin + UInt64(Double(number) / perSecond * 1e9)
            let now = bench_now()
            if due > now + 200_000 { try? await Task.sleep(for: .nanoseconds(due - now)) }
            group.addTask {
                let began = bench_now()
                var end = End.served
                do {
                    try await call(number)
                } catch {
                    let error = error as? RPCError
                    end = error?.code == .busy && error?.outcome == .notExecuted ? .refused : .wrong
                }
                let took = bench_now() - began
                kept.result.withLock { result in
                    switch end {
                    case .wrong: result.wrong += 1
                    case .served where due >= counted: result.served.add(took)
                    case .refused where due >= counted: result.refused.add(took)
                    default: break
                    }
                }
            }
        }
    }
    return kept.result.withLock { $0 }
}

private final class KeptResult: Sendable {
    let result = Mutex(PaceResult())
}

private enum End { case served, refused, wrong }
