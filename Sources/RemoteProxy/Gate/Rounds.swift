// When each connection of a loop is due to be looked at, in; a look at those whose time has come, out. One timer serves
// all, and the times lie side by side: ten thousand idle connections cost a walk along a list, not a timer each, and
// none of them is touched as long as it is heard in time.

import RPCWire

/// `@unchecked Sendable`: everything here is touched on the loop's thread only.
final class Rounds: @unchecked Sendable {
    private struct Place {
        var due: Instant
        let connection: Connection
    }

    /// How long there is between two walks for each place that they go by, in nanoseconds, so that walking takes about a
    /// thousandth of the loop's time: with ten thousand connections one may be looked at 20 ms late.
    private static let pausePerPlace: Int64 = 2_000

    private let loop: any Loop
    private var places: ContiguousArray<Place> = []
    private var timer: (any LoopTimer)?
    /// When the next walk begins; while one goes on, when that one was due.
    private var next = Instant.distantFuture

    init(_ loop: any Loop) { self.loop = loop }

    /// From now on a connection is due then, whenever it was before.
    func look(at connection: Connection, when due: Instant) {
        if let place = connection.gate.place {
            places[place].due = due
        } else {
            connection.gate.place = places.count
            // Strong, until it leaves: a weak reference would make every other one to it slow.
            places.append(Place(due: due, connection: connection))
        }
        if due < next { book(due) }
    }

    /// Nobody looks at a connection any more.
    func leave(_ connection: Connection) {
        guard let place = connection.gate.place else { return }
        connection.gate.place = nil
        let last = places.removeLast()
        if place < places.count {
            places[place] = last
            last.connection.gate.place = place
        }
        if places.isEmpty { book(.distantFuture) }
    }

    private func book(_ due: Instant) {
        timer?.cancel()
        next = due
        timer = due < .distantFuture ? loop.schedule(at: due) { [self] in walk() } : nil
    }

    private func walk() {
        let now = loop.now
        // From the end: whoever leaves meanwhile is replaced by the last, who has been looked at.
        var index = places.count
        while index > 0 {
            index -= 1
            guard index < places.count else { continue }
            guard places[index].due <= now else { continue }
            places[index].due = .distantFuture
            places[index].connection.gateDue()
        }
        let first = places.lazy.map(\.due).min() ?? .distantFuture
        book(max(first, now.advanced(byNanoseconds: Int64(places.count) * Self.pausePerPlace)))
    }
}
