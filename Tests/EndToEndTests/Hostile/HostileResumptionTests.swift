// Our client comes back to servers that wish it ill: every call ends in time, nobody gets what is not theirs, and what
// the client says of a call is true as far as it was not lied to.

import Faults
import Protocols
import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Hostile resumptions` {
    private static let timeout = Duration.milliseconds(400)

    private enum End: Sendable, Hashable { case answered, notExecuted, notKnown }

    @Test(arguments: HostileResumption.all)
    func `every call ends in time with its own answer or the truth`(_ hostile: HostileResumption) async throws {
        let book = Lock(HostileResumption.Book())
        let server = try ScriptedServer { try hostile.serve($0, book) }
        let client = RPCClient(server.url, .eager)
        let latest = Lock(Duration.zero)
        let ends = try await withThrowingTaskGroup(of: [String: End].self) { group in
            for caller in 0..<8 {
                group.addTask {
                    var ends: [String: End] = [:]
                    for number in 0..<6 {
                        let text = "mine \(caller) \(number)"
                        let due = MonotonicClock.now.advanced(by: Self.timeout)
                        ends["\"\(text)\""] = try await end(of: text, at: EchoProxy(client))
                        let late = due.duration(to: MonotonicClock.now)
                        latest.withLock { $0 = max($0, late) }
                    }
                    return ends
                }
            }
            return try await group.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
        }
        #expect(latest.withLock { $0 } < FaultRuns.hostileSlack)
        #expect(ends.count == 48)
        #expect(client.requester.pendingCalls == 0)
        client.close()
        let heard = book.withLock { $0.heard }
        if !hostile.isLying {
            for (text, end) in ends where end == .notExecuted {
                #expect(heard[text] == nil, "\(text) is said not to have run, and the server has heard it")
            }
            #expect(heard.allSatisfy { $0.value == 1 }, "what may not run twice was sent again: \(heard)")
        }
        // Unless the machine was too busy to keep to the time at all.
        if hostile.answers, latest.withLock({ $0 }) < .milliseconds(100) { #expect(ends.values.contains(.answered)) }
    }

    private func end(of text: String, at echo: any Echo) async throws -> End {
        do {
            let answer = try await withCallTimeout(Self.timeout) { try await echo.text(text) }
            try #require(answer == text, "somebody else's answer")
            return .answered
        } catch let error as RPCError {
            return error.outcome == .notExecuted ? .notExecuted : .notKnown
        }
    }

    /// In a process of its own, whose memory is looked at.
    @Test func `nothing that a server sends or says costs much memory`() async {
        await #expect(processExitsWith: .success) {
            // What the scripts hold, and what the first call of a process costs, is not the client's.
            let costly = HostileServer.costly
            try await Self.call(try ScriptedServer { try $0.welcome() }, times: 1)
            let before = try ProcessMemory.peak(reset: true)
            for hostile in HostileResumption.all where hostile.name.contains("megabyte") {
                let book = Lock(HostileResumption.Book())
                try await Self.call(try ScriptedServer { try hostile.serve($0, book) }, times: 10)
            }
            for hostile in costly { try await Self.call(try ScriptedServer(hostile.script), times: 2) }
            let after = try ProcessMemory.peak()
            // On a slow machine it is 27 to 38 MB. A fast one has 64 to 69: one flood of questions then fills, before the call is
            // over, the 16 MiB of output that a peer may leave unread, and that takes 47 MB while it grows.
            guard after - before < 96 << 20 else {
                throw FaultToolError("\(after - before) bytes more than \(before)")
            }
        }
    }

    private static func call(_ server: ScriptedServer, times: Int) async throws {
        let client = RPCClient(server.url, .eager)
        for _ in 0..<times {
            _ = try? await withCallTimeout(timeout) { try await EchoProxy(client).text("mine") }
        }
        client.close()
    }
}
