// The way between the two changes a byte now and then and nothing else happens to it: no connection is cut, so a changed
// length leaves an end waiting for bytes that never come, and only the time limit of a message ends that.

import Faults
import Protocols
import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import Subjects
import TestSupport
import Testing

extension FaultRuns {
    @Test func `a byte that changes in every megabyte ends no process, and each call ends in time`() async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.frameTime = .milliseconds(100)
        configuration.limits.minimumRate = 10_000_000
        let server = RPCServer(configuration)
        server.export(EchoProxy(PlainEcho()))
        let proxy = try FaultProxy(to: try await server.listen(on: "tcp://127.0.0.1:0"))
        var eager = RPCClient.Configuration.eager
        eager.limits.frameTime = .milliseconds(100)
        eager.limits.minimumRate = 10_000_000
        let client = RPCClient(proxy.url, eager)
        // Two bytes per megabyte are changed: one there, one back.
        proxy.corrupt(.toServer, .toClient, every: 500_000...1_500_000, seed: 18)
        let history = CallHistory()
        let wrong = Lock(0)
        let lateness = Lateness()
        let end = MonotonicClock.now.advanced(by: .seconds(Self.size(2, full: 60)))
        let timeout = Duration.milliseconds(500)
        await withTaskGroup { group in
            for caller in 0..<8 {
                group.addTask {
                    let text = String(repeating: "\(caller)", count: 20_000)
                    var number = 0
                    while MonotonicClock.now < end {
                        await history.call(CallName(caller, number), deadline: timeout) {
                            let answer = try await withCallTimeout(timeout) { try await EchoProxy(client).text(text) }
                            if answer != text { wrong.withLock { $0 += 1 } }
                            return 0
                        }
                        number += 1
                    }
                }
            }
        }
        let late = lateness.stop()
        expectNone(HistoryCheck(history.calls).faultsInEnding(slack: Self.slack + late))
        let counts = proxy.counts
        #expect(counts.corrupted > 0 && counts.cuts == 0)
        let answered = history.calls.answered
        #expect(answered > 0)
        print(
            "changed \(counts.corrupted) bytes of \(counts.bytes): \(answered) of \(history.calls.count) answered, \(wrong.withLock { $0 }) with a changed text, \(counts.connections) connections, machine \(late)"
        )
        // And when the way is good again everything is.
        proxy.corrupt(every: 1...1, seed: 1)
        proxy.cut()
        let sound = RPCClient(proxy.url, .patient)
        #expect(try await EchoProxy(sound).text("sound") == "sound")
        // What was swallowed behind a changed length may take its time to be given up.
        var patience = timeout
        var answer: String?
        while answer == nil, !Task.isCancelled {
            answer = try? await withCallTimeout(patience) { try await EchoProxy(client).text("sound") }
            patience *= 2
        }
        #expect(answer == "sound")
        client.close()
        await server.stop(grace: .zero)
    }
}
