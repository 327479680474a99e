// Counting, event by event.

import Testing

@testable import RemoteProxy

@Suite struct `The count of holders` {
    @Test func `the first has it made, the last has it let go, and the next has it made again`() {
        var count = HolderCount()
        for _ in 0..<2 {
            #expect(count.joined() == .make)
            #expect(count.joined() == .nothing)
            #expect(count.made() == .nothing)
            #expect(count.joined() == .nothing)
            #expect(count.left() == .nothing)
            #expect(count.left() == .nothing)
            #expect(count.left() == .tell)
            #expect(count.told() == .nothing)
            #expect(count.phase == .absent)
        }
    }

    @Test func `what is made when nobody wants it any more is let go at once`() {
        var count = HolderCount()
        #expect(count.joined() == .make)
        #expect(count.left() == .nothing)
        #expect(count.made() == .tell)
        #expect(count.phase == .leaving)
    }

    @Test func `who comes while the last one is being told waits for a new one`() {
        var count = HolderCount()
        #expect([count.joined(), count.made(), count.left()] == [.make, .nothing, .tell])
        #expect(count.joined() == .nothing)
        #expect(count.told() == .make)
        #expect(count.made() == .nothing)
        #expect(count.left() == .tell)
    }

    @Test func `who comes and goes while the last one is being told has nothing made`() {
        var count = HolderCount()
        #expect([count.joined(), count.made(), count.left()] == [.make, .nothing, .tell])
        #expect(count.joined() == .nothing)
        #expect(count.left() == .nothing)
        #expect(count.told() == .nothing)
    }

    @Test func `a failure leaves the holders, and the next has it tried again`() {
        var count = HolderCount()
        #expect([count.joined(), count.joined()] == [.make, .nothing])
        count.failed()
        #expect(count.left() == .nothing)
        #expect(count.joined() == .make)
        #expect(count.made() == .nothing)
        #expect(count.left(2) == .tell)
    }
}
