// Posts to a counted object: kept in order until it is there, delivered once, never to one that is going.

import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite(.waitsForOthers) struct `Posts to a counted object` {
    private let loop = ManualLoop()
    private let nursery = Nursery()
    private var child: ChildProxy { nursery.child(on: loop) }

    @Test func `is made although the post that wanted it first found no place`() async throws {
        let child = ChildProxy.counted(maximumKeptPosts: 0, clock: loop) { [nursery] in
            try nursery.make()
        } whenLast: { [nursery] _ in
            nursery.letGo()
        }
        let before = DroppedPosts.count
        child.hear("lost")
        #expect(DroppedPosts.count > before)
        await until { nursery.told == 1 }
        #expect(try await child.number() == 2)
        #expect(!nursery.log.contains("lost"))
    }

    @Test func `gets the posts that were made before it was there, in order, and the call after them`() async throws {
        let child = self.child
        do {
            // Posts hold only until they are delivered, and it is to be the same child for all.
            let handle = child.handle()
            for number in 1...100 { child.hear("\(number)") }
            #expect(try await child.number() == 1)
            #expect(nursery.log == (1...100).map { "\($0)" } + ["asked"])
            withExtendedLifetime(handle) {}
        }
        await until { nursery.told == 1 }
    }

    @Test func `gets every post once, and never when it is being let go`() async throws {
        let child = self.child
        await withTaskGroup { group in
            for number in 0..<2_000 {
                group.addTask {
                    child.hear("post")
                    if number.isMultiple(of: 5) { await Task.yield() }
                    if number.isMultiple(of: 9) { _ = try? await child.number() }
                }
            }
        }
        await until { child.holders == 0 && nursery.told == nursery.made }
        #expect(nursery.log.count { $0 == "post" } == 2_000)
        #expect(nursery.late == 0)
        #expect(nursery.most == 1)
    }

    @Test func `gets a post at once when it is there`() async throws {
        let handle = self.child.handle()
        _ = try await handle.number()
        handle.hear("now")
        #expect(nursery.log == ["asked", "now"])
    }
}
