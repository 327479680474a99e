import Testing

@testable import RemoteProxy

struct SharedFlushTests {
    private static let priority: UInt8 = 25

    /// What callers, the loop and the task that flushes do, one after the other, and what each is answered.
    private enum Event {
        case want
        case promiseAhead(Int)
        case begin
    }

    private func answers(_ flush: inout SharedFlush, to events: [Event]) -> [Bool] {
        events.map { event in
            switch event {
            case .want: flush.want(Self.priority)
            case .promiseAhead(let callers): flush.promiseAhead(of: callers) == Self.priority
            case .begin: flush.begin()
            }
        }
    }

    @Test func `the first caller makes the task that flushes for all until it flushes`() {
        var flush = SharedFlush()
        #expect(answers(&flush, to: [.want, .want, .begin, .want]) == [true, false, true, true])
        #expect(!flush.isForOthers)
    }

    @Test func `a flush is promised ahead when callers were there for the last one`() {
        var flush = SharedFlush()
        let events: [Event] = [.promiseAhead(2), .want, .promiseAhead(2), .begin, .promiseAhead(2)]
        #expect(answers(&flush, to: events) == [false, true, false, true, true])
        #expect(flush.isForOthers)
        // Nobody came.
        while !flush.begin() {}
        #expect(answers(&flush, to: [.promiseAhead(2)]) == [false])
    }

    @Test func `callers that come back rely on the promise that was made ahead, which waits for the last`() {
        var flush = SharedFlush()
        let before: [Event] = [.want, .begin, .promiseAhead(2)]
        #expect(answers(&flush, to: before) == [true, true, true])
        let after: [Event] = [.begin, .want, .begin, .want, .begin, .promiseAhead(2)]
        #expect(answers(&flush, to: after) == [false, false, false, false, true, true])
    }

    @Test func `a flush waits a moment and no longer, and the next ones not at all`() {
        var flush = SharedFlush()
        _ = answers(&flush, to: [.want, .begin, .promiseAhead(2)])
        var looks = 0
        while !flush.begin() { looks += 1 }
        #expect(looks == 32)
        let round: [Event] = [.want, .begin, .promiseAhead(2), .begin]
        for _ in 0..<8 { #expect(answers(&flush, to: round) == [true, true, true, true]) }
        #expect(answers(&flush, to: round) == [true, true, true, false])
    }
}
