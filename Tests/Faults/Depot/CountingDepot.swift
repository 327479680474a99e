// The real depot, and its pieces, each of which is counted and noted when it goes.

import RPCSockets
import RemoteProxy
package import TestSupport

package final class NumberedPiece: Piece {
    package let value: Int
    private let count: PieceCount

    package init(_ value: Int, _ count: PieceCount) {
        (self.value, self.count) = (value, count)
        count.came()
    }

    deinit { count.went(value) }

    package func number() async throws -> Int { value }
    package func number(of other: any Piece) async throws -> Int { try await other.number() }
}

/// How many pieces of one end there are and have been.
package final class PieceCount: Sendable {
    private let numbers = Lock((alive: 0, made: 0))
    private let name: String
    private let history: ObjectHistory?

    /// - Parameter name: tells the pieces of one end from those of the other in the history.
    package init(_ name: String = "piece", in history: ObjectHistory? = nil) {
        (self.name, self.history) = (name, history)
    }

    package var alive: Int { numbers.withLock { $0.alive } }
    package var made: Int { numbers.withLock { $0.made } }

    package func name(_ number: Int) -> String { "\(name) \(number)" }
    fileprivate func came() { numbers.withLock { $0 = ($0.alive + 1, $0.made + 1) } }

    fileprivate func went(_ number: Int) {
        history?.note(.gone(name(number)))
        numbers.withLock { $0.alive -= 1 }
    }
}

package final class CountingDepot: Depot {
    package let count: PieceCount
    private let kept = Lock<[any Piece]>([])
    private let last = Lock(0)
    private let next: (any Depot)?
    /// Waited for by each call of `handOut` before it makes anything.
    private let gate: @Sendable () async -> Void

    package init(
        counting count: PieceCount = PieceCount(), next: (any Depot)? = nil,
        gate: @escaping @Sendable () async -> Void = {}
    ) {
        (self.count, self.next, self.gate) = (count, next, gate)
    }

    /// What it keeps.
    package var pieces: [any Piece] { kept.withLock { $0 } }

    private func make(_ count: Int) -> [NumberedPiece] {
        let first = last.withLock { last in
            defer { last += count }
            return last
        }
        return (0..<count).map { NumberedPiece(first + $0, self.count) }
    }

    package func handOut(_ count: Int) async throws -> [any Piece] {
        await gate()
        return make(count)
    }

    package func keep(_ pieces: [any Piece]) async throws { note(pieces) }
    package func note(_ pieces: [any Piece]) { kept.withLock { $0 += pieces } }
    package func drop() async throws { letGo() }

    package func letGo() {
        let old = kept.withLock { kept in
            defer { kept = [] }
            return kept
        }
        withExtendedLifetime(old) {}
    }

    package func numbers(_ pieces: [any Piece]) async throws -> [Int] {
        pieces.map { ($0 as? NumberedPiece)?.value ?? -1 }
    }

    package func echo(_ pieces: [any Piece]) async throws -> [any Piece] { pieces }

    package func exchange(_ count: Int) async throws {
        guard let next else { throw FaultToolError("there is no next depot") }
        note(try await next.handOut(count))
        try await next.keep(make(count))
    }

    package func counts() async throws -> [Int] { [count.alive, kept.withLock { $0.count }] }
}
