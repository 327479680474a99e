// Calls whose tasks are cancelled while others go on.

import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Cancelled calls` {
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

    @Test func `a call that is cancelled while it is on its way ends at once`() throws {
        let call = Task(executorPreference: loop) { try await proxy.echo(1) }
        #expect(loop.step())
        call.cancel()
        #expect(throws: CancellationError.self) { try loop.complete { try await call.value } }
    }

    @Test func `whenever one of several is cancelled, each call ends once and as it should`() throws {
        for seed in 0..<200 as Range<UInt64> {
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
