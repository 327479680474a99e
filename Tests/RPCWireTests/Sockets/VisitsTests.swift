// Whether it is worth a visit to the loop, as told by those before.

import Synchronization
import TestSupport
import Testing

@testable import RPCWire

@Suite struct `Visits to a loop` {
    @Test func `are worthwhile until two in a row were in vain, and then again after some time`() throws {
        let visits = try Visits()
        #expect(visits.isWorthwhile())
        for _ in 0..<2 {
            visits.left(hasPaid: false)
            #expect(visits.isWorthwhile())
            visits.left(hasPaid: true)
        }
        visits.left(hasPaid: false)
        visits.left(hasPaid: false)
        let skipped = Self.skipped(visits)
        #expect(skipped > 0)
        visits.left(hasPaid: true)
        #expect(visits.isWorthwhile())
    }

    @Test func `become rare where calls take long, but never cease`() throws {
        let visits = try Visits()
        var before = 0
        for _ in 0..<20 {
            visits.left(hasPaid: false)
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

    @Test(.waitsForOthers, arguments: EventLoop.Backend.allCases, [false, true])
    func `come to an end although nothing has come`(_ backend: EventLoop.Backend, _ spins: Bool) async throws {
        let visits = try Visits(backend)
        let loop = try EventLoop(name: "visited", backend: backend, spins: spins, visits: visits)
        defer { loop.shutdown() }
        let isTooLate = Atomic(false)
        // Nobody who visits stays beyond a timer, whatever else is wrong.
        loop.schedule(at: loop.now.advanced(by: .seconds(300))) { isTooLate.store(true, ordering: .relaxed) }
        for number in 1...3 {
            var tries = 0
            await until {
                // Has the loop's thread see that somebody would come; and then leaves it alone for a while.
                if tries % 64 == 0 { await loop.perform {} }
                tries += 1
                loop.visit { false }
                return visits.count >= number
            }
        }
        let hasTimerFired = isTooLate.load(ordering: .relaxed)
        #expect(!hasTimerFired)
        // Nor does a visit keep the loop's thread away for good.
        await withCheckedContinuation { done in loop.submit { done.resume() } }
    }

    private static func skipped(_ visits: Visits) -> Int {
        var count = 0
        while !visits.isWorthwhile() { count += 1 }
        return count
    }
}
