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
}
