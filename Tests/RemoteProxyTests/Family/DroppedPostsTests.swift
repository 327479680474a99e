// Posts for which a proxy has no place are lost, and not in silence.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite(.serialized, .waitsForOthers) struct `Dropped posts` {
    @Test func `are counted, and told of when there are twice as many`() {
        let lines = Lock<[String]>([])
        DroppedPosts.log { line in lines.withLock { $0.append(line.message) } }
        defer { DroppedPosts.log(to: LogRecord.standardError) }
        let proxy = WorkshopProxy.unbound(limit: 2, on: ManualLoop())
        let before = DroppedPosts.count
        for number in 0..<before + 12 { proxy.note("\(number)") }
        #expect(proxy.refusedPosts == before + 10 && DroppedPosts.count >= 2 * before + 10)
        let told = lines.withLock { $0 }
        #expect(!told.isEmpty && told.count < 10)
        #expect(told.contains { $0.contains("Workshop.note was dropped: 2 posts wait for the object already (limit)") })
    }

    @Test func `are those that come while others wait for a lock, too`() async throws {
        let loop = ManualLoop()
        let workshop = BusyWorkshop(loop)
        var locking = Locking.oneAtATime
        locking.maximumKeptPosts = 2
        let proxy = WorkshopProxy(workshop).locked(locking, clock: loop)
        let before = DroppedPosts.count
        let running = Task { try await proxy.work("call", milliseconds: 5) }
        await until { !workshop.log.isEmpty }
        for number in 1...5 { proxy.note("\(number)") }
        #expect(DroppedPosts.count >= before + 3)
        loop.advance(by: .milliseconds(5))
        _ = try await running.value
    }

    @Test func `are those that a policy denies, now or later`() async {
        let lines = Lock<[String]>([])
        DroppedPosts.log { line in lines.withLock { $0.append(line.message) } }
        defer { DroppedPosts.log(to: LogRecord.standardError) }
        let before = DroppedPosts.count
        let workshop = WorkshopProxy(BusyWorkshop(ManualLoop()))
        let now = workshop.guarded(by: Policy { _ in .deny("closed today") })
        for number in 0...before { now.note("\(number)") }
        #expect(DroppedPosts.count > 2 * before)
        #expect(
            lines.withLock { $0 }.contains {
                $0.contains("Workshop.note was dropped: its policy denied it: closed today")
            })
        let counted = DroppedPosts.count
        workshop.guarded(by: .asking { _ in .denySilently }).note("later")
        await until { DroppedPosts.count > counted }
    }
}
