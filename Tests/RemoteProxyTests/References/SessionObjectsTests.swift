// Which objects of another end this one has, and what it gives back.

import RPCSockets
import Testing

@testable import RemoteProxy

@Suite struct `Objects of a session` {
    private let releases = Lock(0)
    private let session: SessionObjects

    init() {
        session = SessionObjects(most: 3, isListed: true) { [releases] in releases.withLock { $0 += 1 } }
    }

    @Test func `are given back as often as they came`() {
        var first: NamedObjects? = session.arrived([5])
        var second: NamedObjects? = session.arrived([5, 7])
        #expect(first?.theirs(5) === second?.theirs(5))
        #expect(first?.theirs(7) == nil)
        #expect(session.takenCount == 2)
        first = nil
        #expect(session.takeReleased(10).isEmpty)
        second = nil
        #expect(session.takenCount == 0)
        #expect(releases.withLock { $0 } == 1)
        let released = session.takeReleased(10).sorted { $0.handle < $1.handle }
        #expect(released.map(\.handle) == [5, 7] && released.map(\.count) == [2, 1])
    }

    @Test func `are not given back by a reference whose place another one has taken`() {
        var old = session.arrived([5]).theirs(5)
        // As a hold does when it ends, while a task has the right for longer.
        if let old { session.forget(old) }
        let message = session.arrived([5])
        #expect(message.theirs(5) !== old)
        old = nil
        #expect(session.takenCount == 1)
        #expect(session.takeReleased(10).map(\.count) == [1])
        withExtendedLifetime(message) {}
    }

    @Test func `are told again when it could not be sent that they are given back`() {
        _ = session.arrived([5])
        let released = session.takeReleased(10)
        session.putBack(released)
        #expect(releases.withLock { $0 } == 2)
        #expect(session.takeReleased(10).map(\.handle) == released.map(\.handle))
    }

    @Test func `are none after its end`() {
        let before = session.arrived([5])
        session.end()
        #expect(session.isOver && session.takenCount == 0)
        #expect(session.arrived([7]).theirs(7) == nil && session.unlisted(7) == nil)
        session.putBack([(handle: 5, count: 1)])
        #expect(session.takeReleased(10).isEmpty)
        withExtendedLifetime(before) {}
    }
}
