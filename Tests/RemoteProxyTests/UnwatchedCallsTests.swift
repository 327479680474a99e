// Callers who learn late that their tasks were cancelled, since hardly any are.

import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Unwatched calls` {
    private let network = SimulatedNetwork()
    private let probe: RecordingProbe
    private let proxy: ProbeProxy
    private var loop: ManualLoop { network.loop }

    init() throws {
        probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
        proxy = ProbeProxy(network.client())
        // From now on there is a connection.
        _ = try network.loop.complete { [proxy] in try await proxy.echo(0) }
    }

    @Test func `the first asks for a look, and those that one has seen are due at the next`() {
        var calls = UnwatchedCalls()
        var isFirst = calls.begin(at: 5)
        #expect(isFirst)
        isFirst = calls.begin(at: 6)
        #expect(!isFirst)
        let due = [7, 9, 9, 10].map { calls.look(next: $0) }
        #expect(due == [5..<5, 5..<7, 7..<9, 10..<10])
        #expect(calls.isEmpty)
        isFirst = calls.begin(at: 12)
        #expect(isFirst)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `none is missed, and none waits for a third look`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var calls = UnwatchedCalls()
        /// How many looks have seen each that is not due yet.
        var looks: [Int64: Int] = [:]
        for next in 1..<1_000 as Range<Int64> {
            if Int.random(in: 0..<4, using: &random) == 0 {
                let due = calls.look(next: next)
                looks = looks.filter { !due.contains($0.key) }.mapValues { $0 + 1 }
                #expect(looks.values.allSatisfy { $0 < 2 })
            }
            // The other numbers are those of posts, and of calls that are watched.
            if Bool.random(using: &random) {
                let nobodyLooks = calls.isEmpty
                let isFirst = calls.begin(at: next)
                #expect(isFirst == nobodyLooks)
                looks[next] = 0
            }
            #expect(looks.isEmpty || !calls.isEmpty)
        }
    }

    #if KNOWN_RUNTIME
        @Test(arguments: 0..<20 as Range<UInt64>)
        func `who is cancelled before anybody looks learns of it as soon as somebody has`(seed: UInt64) throws {
            loop.postponeIdleWork(seed)
            let call = Task(executorPreference: loop) { try await proxy.wait(1, milliseconds: 1_000) }
            #expect(loop.step())
            call.cancel()
            loop.run()
            #expect(probe.cancelled == [1])
            #expect(throws: CancellationError.self) { try loop.complete { try await call.value } }
            #expect(loop.now == Instant(nanoseconds: 0))
        }

        @Test func `an answer that comes before anybody looks is the call's result`() throws {
            let call = Task(executorPreference: loop) { try await proxy.echo(1) }
            #expect(loop.step())
            call.cancel()
            #expect(try loop.complete { try await call.value } == 1)
        }
    #else
        @Test func `where all are watched a call that is cancelled ends at once`() throws {
            let call = Task(executorPreference: loop) { try await proxy.echo(1) }
            #expect(loop.step())
            call.cancel()
            #expect(throws: CancellationError.self) { try loop.complete { try await call.value } }
        }
    #endif

    @Test func `however often there is something else to do first, each call ends once and as it should`() throws {
        for seed in 0..<200 as Range<UInt64> {
            loop.postponeIdleWork(seed)
            let numbers = 1...5
            let calls = numbers.map { number in Task(executorPreference: loop) { try await proxy.echo(number) } }
            for _ in 0..<Int(seed % 20) { _ = loop.step() }
            calls[2].cancel()
            let results = try calls.map { call in
                try loop.complete { [call] in await call.result }
            }
            for (number, result) in zip(numbers, results) where number != 3 { #expect(try result.get() == number) }
            #expect((try? results[2].get()) ?? 3 == 3)
        }
        let runs = Dictionary(grouping: probe.executed) { $0 }.mapValues(\.count)
        for number in [1, 2, 4, 5] { #expect(runs[number] == 200) }
        #expect(runs[3, default: 0] <= 200)
    }
}
