// Whether it is worth a visit to the loop, as told by those before.

import Testing

@testable import RPCWire

@Suite struct `Visits to a loop` {
    @Test func `are worthwhile until one was in vain, and then again after some time`() throws {
        let visits = try Visits()
        #expect(visits.isWorthwhile())
        visits.left(hasFound: false)
        let skipped = Self.skipped(visits)
        #expect(skipped > 0)
        visits.left(hasFound: true)
        #expect(visits.isWorthwhile())
    }

    @Test func `become rare where calls take long, but never cease`() throws {
        let visits = try Visits()
        var before = 0
        for _ in 0..<20 {
            visits.left(hasFound: false)
            let skipped = Self.skipped(visits)
            #expect(skipped >= before && skipped <= Visits.mostSkipped)
            before = skipped
        }
        #expect(before == Visits.mostSkipped)
    }

    @Test func `know when the thread is wanted back, until it is`() throws {
        let visits = try Visits()
        #expect(!visits.isThreadBack)
        visits.callBack()
        #expect(visits.isThreadBack)
        visits.isBack()
        #expect(!visits.isThreadBack)
    }

    private static func skipped(_ visits: Visits) -> Int {
        var count = 0
        while !visits.isWorthwhile() { count += 1 }
        return count
    }
}
