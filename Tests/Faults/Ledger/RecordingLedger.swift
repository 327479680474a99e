// The real ledger. Goes on counting where the file ends, so that a server that was killed and started again is, to its
// callers, the same counter.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport

package final class RecordingLedger: Ledger {
    private let file: LedgerFile
    private let value: Lock<Int>
    private let next: (any Ledger)?

    /// - Parameter next: whom `pass` asks.
    package init(_ path: String, next: (any Ledger)? = nil) throws {
        value = Lock(LedgerFile.entries(path).executions.count)
        file = try LedgerFile(path)
        self.next = next
    }

    package func add(caller: Int, number: Int) async throws -> Int { count(CallName(caller, number)) }

    package func addSlowly(caller: Int, number: Int, milliseconds: Int) async throws -> Int {
        let result = count(CallName(caller, number))
        try await Task.sleep(for: .milliseconds(milliseconds))
        return result
    }

    package func again(number: Int) async throws -> Int { number }

    package func note(caller: Int, number: Int) {
        file.enter(.post(PostSeen(CallName(caller, number), session: Caller.current.map { "\($0.id)" } ?? "none")))
    }

    package func pass(waitingMilliseconds: Int) async throws {
        let deadline = CallScope.current?.deadline ?? .distantFuture
        file.enter(.timeLeft(MonotonicClock.now.duration(to: deadline)))
        do {
            guard let next else { return try await Task.sleep(for: .milliseconds(waitingMilliseconds)) }
            try await next.pass(waitingMilliseconds: waitingMilliseconds)
        } catch {
            if Task.isCancelled { file.enter(.cancelled(at: MonotonicClock.now)) }
            throw error
        }
    }

    private func count(_ name: CallName) -> Int {
        value.withLock { value in
            value += 1
            // Under the lock, so that the file has the order of the numbers.
            file.enter(.execution(Execution(name, result: value)))
            return value
        }
    }
}
