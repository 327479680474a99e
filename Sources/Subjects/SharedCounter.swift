// The real counter. All callers share it, so it is behind a lock.

import Protocols
import Synchronization

/// A counter and its notebook.
package final class SharedCounter: Counter {
    /// How much memory the notes may take. Beyond it the oldest notes are dropped. The newest is kept, however long it is.
    package static let maximumBytes = 1 << 20

    private struct State {
        var value = 0
        var notes: [String] = []
        var bytes = 0

        /// An empty note takes memory too.
        static func size(of note: String) -> Int { note.utf8.count + MemoryLayout<String>.size }
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
            state.bytes += State.size(of: text)
            while state.notes.count > 1, state.bytes > Self.maximumBytes {
                state.bytes -= State.size(of: state.notes.removeFirst())
            }
        }
    }

    package func notes() async throws -> [String] { state.withLock { $0.notes } }
}
