// The real counter: shared by all callers, so behind a lock.

import Protocols
import Synchronization

/// A counter and its notebook.
package final class SharedCounter: Counter {
    /// How many notes are kept; the oldest go first.
    package static let maximumNotes = 1_000
    /// How many bytes they may have together; the newest is kept however long it is.
    package static let maximumBytes = 1 << 20

    private struct State {
        var value = 0
        var notes: [String] = []
        var bytes = 0

        mutating func dropOldest() { bytes -= notes.removeFirst().utf8.count }
    }

    private let state = Mutex(State())

    /// A counter at zero.
    package init() {}

    package func increment(by amount: Int) async throws -> Int {
        try state.withLock { state in
            let (sum, overflow) = state.value.addingReportingOverflow(amount)
            guard !overflow else { throw ArithmeticFailure.overflow }
            state.value = sum
            return sum
        }
    }

    package func next() async throws -> Int { try await increment(by: 1) }

    package func value() async throws -> Int { state.withLock { $0.value } }

    package func note(_ text: String) {
        state.withLock { state in
            state.notes.append(text)
            state.bytes += text.utf8.count
            while state.notes.count > 1, state.notes.count > Self.maximumNotes || state.bytes > Self.maximumBytes {
                state.dropOldest()
            }
        }
    }

    package func notes() async throws -> [String] { state.withLock { $0.notes } }
}
