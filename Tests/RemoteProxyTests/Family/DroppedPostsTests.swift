// Posts for which a proxy has no place are lost, and not in silence.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite(.serialized, .waitsForOthers) struct `Dropped posts` {
    private let loop = ManualLoop()
    private let lines = Lock<[LogRecord]>([])
    private let traffic = Traffic(loops: 1, maximumRequests: 10)

    /// A peer of a server with these counters and this log.
    private var caller: Caller {
        var settings = LinkSettings()
        settings.traffic = traffic
        let context = LinkContext(
            runner: RequestRunner(loop: loop), exports: Exports(), settings: Shared(settings),
            log: { [lines] line in lines.withLock { $0.append(line) } })
        return Caller(Link(context))
    }

    @Test func `are counted by the server of their sender, and told of in its log when there are twice as many`() {
        let here = DroppedPosts.count
        let proxy = WorkshopProxy.unbound(maximumKeptPosts: 2, on: loop).proxy
        CallScope.with(CallScope(caller: caller)) { for number in 1...12 { proxy.note("\(number)") } }
        #expect(traffic.rareEvents.droppedPosts == 10 && DroppedPosts.count == here)
        let told = lines.withLock { $0 }
        let text =
            "the post Workshop.note was dropped: 2 posts wait for the object already (maximumKeptPosts); dropped so far: "
        #expect(told.map(\.message) == ["1", "2", "4", "8"].map { text + $0 })
        #expect(told.allSatisfy { $0.level == .error && $0.method == "Workshop.note" })
    }

    @Test func `are those that come while others wait for a lock, too`() async throws {
        let workshop = BusyWorkshop(loop)
        var policy = LockPolicy.oneAtATime
        policy.maximumKeptPosts = 2
        let proxy = WorkshopProxy(workshop).locked(policy, clock: loop)
        let before = DroppedPosts.count
        let running = Task { try await proxy.work("call", milliseconds: 5) }
        await until { !workshop.log.isEmpty }
        for number in 1...5 { proxy.note("\(number)") }
        #expect(DroppedPosts.count >= before + 3)
        loop.advance(by: .milliseconds(5))
        _ = try await running.value
    }

    @Test func `are those that a policy denies, now or later`() async {
        let workshop = WorkshopProxy(BusyWorkshop(loop))
        let now = workshop.guarded(by: AccessPolicy { _ in .deny("closed today") })
        CallScope.with(CallScope(caller: caller)) { now.note("x") }
        #expect(traffic.rareEvents.droppedPosts == 1)
        #expect(
            lines.withLock { $0.last?.message }
                == "the post Workshop.note was dropped: its policy denied it: closed today; dropped so far: 1")
        CallScope.with(CallScope(caller: caller)) {
            workshop.guarded(by: .asking { _ in .denySilently }).note("later")
        }
        await until { traffic.rareEvents.droppedPosts == 2 }
    }
}
