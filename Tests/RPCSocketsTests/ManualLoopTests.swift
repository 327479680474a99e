import RPCWire
import Synchronization
import TestSupport
import Testing

@Suite(.waitsForOthers) struct ManualLoopTests {
    @Test func `nothing happens before it is told to`() {
        let loop = ManualLoop()
        let diary = Diary<Int>()
        loop.submit { diary.note(1) }
        loop.schedule(at: loop.now) { diary.note(2) }
        #expect(diary.all == [])
        loop.run()
        #expect(diary.all == [1, 2])
    }

    @Test func `work and jobs run in the order they came`() {
        let loop = ManualLoop()
        let diary = Diary<Int>()
        loop.submit { diary.note(1) }
        Task(executorPreference: loop) {
            diary.note(2)
            await Task.yield()
            diary.note(4)
        }
        loop.submit { diary.note(3) }
        loop.run()
        #expect(diary.all == [1, 2, 3, 4])
    }

    @Test func `the clock stands still until it is moved, and stops at every timer on the way`() {
        let loop = ManualLoop()
        let diary = Diary<Int64>()
        for delay in [30, 10, 20] {
            loop.schedule(at: loop.now.advanced(by: .nanoseconds(delay))) {
                diary.note(loop.now.nanoseconds)
                if delay == 10 {
                    loop.schedule(at: loop.now.advanced(by: .nanoseconds(5))) { diary.note(loop.now.nanoseconds) }
                }
            }
        }
        loop.run()
        #expect(diary.all == [])
        loop.advance(by: .nanoseconds(25))
        #expect(diary.all == [10, 15, 20])
        #expect(loop.now.nanoseconds == 25)
        loop.advance(by: .nanoseconds(5))
        #expect(diary.all == [10, 15, 20, 30])
    }

    @Test func `timers of one moment fire in the order they were set`() {
        let loop = ManualLoop()
        let diary = Diary<Int>()
        for number in 0..<5 { loop.schedule(at: Instant(nanoseconds: 7)) { diary.note(number) } }
        loop.advance(by: .seconds(1))
        #expect(diary.all == [0, 1, 2, 3, 4])
    }

    @Test func `a cancelled timer does not fire`() {
        let loop = ManualLoop()
        let diary = Diary<Int>()
        let timer = loop.schedule(at: Instant(nanoseconds: 7)) { diary.note(1) }
        timer.cancel()
        timer.cancel()
        loop.advance(by: .seconds(1))
        #expect(diary.all == [])
        #expect(loop.nextDeadline == nil)
    }

    @Test func `one step runs one thing`() {
        let loop = ManualLoop()
        let diary = Diary<Int>()
        loop.submit { diary.note(1) }
        loop.submit { diary.note(2) }
        #expect(loop.step())
        #expect(diary.all == [1])
        #expect(loop.step())
        #expect(!loop.step())
    }

    @Test func `the code that runs knows that it is on the loop`() {
        let loop = ManualLoop()
        let diary = Diary<Bool>()
        loop.submit { diary.note(loop.isCurrent) }
        #expect(!loop.isCurrent)
        loop.run()
        #expect(diary.all == [true])
        #expect(!loop.isCurrent)
    }

    @Test func `an asynchronous body is run to its end, and the clock jumps while it waits`() throws {
        let loop = ManualLoop()
        let result = try loop.complete {
            await withCheckedContinuation { continuation in
                loop.schedule(at: Instant(nanoseconds: 3_600_000_000_000)) { continuation.resume() }
            }
            return loop.isCurrent
        }
        #expect(result)
        #expect(loop.now.nanoseconds == 3_600_000_000_000)
    }

    @Test func `a body that waits for nothing that will come is an error, not a hang`() {
        let loop = ManualLoop()
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        #expect(throws: ManualLoopIsStuck.self) { try loop.complete { for await _ in stream {} } }
        continuation.finish()
    }

    @Test func `what a body throws comes out`() {
        struct Fault: Error {}
        #expect(throws: Fault.self) { try ManualLoop().complete { throw Fault() } }
    }
}

@Suite(.waitsForOthers) struct SeededGeneratorTests {
    @Test func `the same seed gives the published sequence`() {
        var generator = SeededGenerator(seed: 1_234_567)
        let numbers = (0..<3).map { _ in generator.next() }
        #expect(numbers == [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423])
        #expect(generator.seed == 1_234_567)
    }
}
