// What callers asked for and what they were told, written down as it happens, by any number of them at once.

import RPCSockets
package import RPCWire

package final class CallHistory: Sendable {
    private let records = Lock<[CallRecord]>([])
    private let clock: @Sendable () -> Instant

    package init(clock: @escaping @Sendable () -> Instant = { MonotonicClock.now }) { self.clock = clock }

    package var calls: [CallRecord] { records.withLock { $0 } }

    /// A call is about to be made. Answers where its end is to be entered.
    package func begin(_ name: CallName, deadline: Duration? = nil) -> Int {
        let now = clock()
        let record = CallRecord(name, invoked: now, deadline: deadline.map { now.advanced(by: $0) } ?? .distantFuture)
        return records.withLock { records in
            records.append(record)
            return records.count - 1
        }
    }

    package func end(_ place: Int, _ ending: CallEnding) {
        let now = clock()
        records.withLock { $0[place].endings.append((ending, now)) }
    }

    /// Makes a call and enters its beginning and its end.
    /// - Parameter number: the number that a declared error carries.
    @discardableResult
    package func call(
        _ name: CallName, deadline: Duration? = nil, number: (any Error) -> Int? = { _ in nil },
        _ body: () async throws -> Int
    ) async -> CallEnding {
        let place = begin(name, deadline: deadline)
        let ending: CallEnding
        do { ending = .executed(try await body()) } catch { ending = CallEnding(error, number: number) }
        end(place, ending)
        return ending
    }
}
