// Large answers that wait for clients which are away: what all sessions keep together stays small, and what became of
// the calls is told all the same.

import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Service
protocol Letters: Sendable {
    func letter(_ bytes: Int) async throws -> String
}

private struct LateLetters: Letters {
    let loop: ManualLoop

    func letter(_ bytes: Int) async throws -> String {
        try await loop.sleep(for: .milliseconds(10))
        return String(repeating: "x", count: bytes)
    }
}

@Suite struct `Large answers that are kept` {
    @Test func `are kept until there are too many in all; of the others it is told that the call ran`() throws {
        let (limit, large, clients) = (100_000, 30_000, 10)
        let traffic = Traffic(loops: 1, maximumRequests: 1_000, maximumBytes: limit)
        var settings = LinkSettings()
        settings.traffic = traffic
        settings.limits.maximumBytesInAll = limit
        let network = SimulatedNetwork(settings: settings)
        network.exports.add(LettersProxy(LateLetters(loop: network.loop)), named: nil)
        let loop = network.loop
        let proxies = (0..<clients).map { _ in LettersProxy(network.client()) }
        let calls = proxies.map { proxy in
            [10, large].map { bytes in
                Task(executorPreference: loop) { try await proxy.letter(bytes).count }
            }
        }
        loop.run()
        network.cut()
        network.isServing = false
        loop.advance(by: .milliseconds(20))
        #expect(network.keptReplies == 2 * clients)
        network.isServing = true
        var arrived = 0
        for call in calls {
            do {
                #expect(try loop.complete { try await call[1].value } == large)
                arrived += 1
            } catch let error as RPCError {
                #expect(error.code == .responseTooLarge && error.outcome == .executed)
                #expect(error.message.contains("\(limit)") && error.message.contains("(maximumBytesInAll)"))
            }
            // Each may keep little, whatever the others do.
            #expect(try loop.complete { try await call[0].value } == 10)
        }
        // The last one that is kept may go beyond the limit, and no other.
        #expect(arrived == limit / large + 1)
        #expect(traffic.rareEvents.overruns == [.maximumBytesInAll: clients - arrived])
        // When all have arrived there is room again.
        for proxy in proxies { #expect(try loop.complete { try await proxy.letter(large).count } == large) }
        network.shutDown()
    }
}
