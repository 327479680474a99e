// Our client against servers that wish it ill: it lives, every call ends in time, and nobody gets what is not theirs.

import Faults
import Protocols
import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Hostile servers` {
    private static let timeout = Duration.milliseconds(400)
    /// For calls that will be answered, however busy the machine.
    private static let longTimeout = Duration.seconds(300)

    private func end(of text: String, at echo: any Echo, within timeout: Duration = longTimeout) async -> HostileServer
        .End?
    {
        do {
            let answer = try await withCallTimeout(timeout) { try await echo.text(text) }
            return answer == text ? .answered : nil
        } catch {
            return .failed
        }
    }

    @Test(arguments: HostileServer.all)
    func `a client lives, and every call ends in time with its own answer or none`(_ hostile: HostileServer)
        async throws
    {
        let server = try ScriptedServer(hostile.script)
        let client = RPCClient(server.url, .patient)
        let echo = EchoProxy(client)
        let timeout = hostile.end == .answered ? Self.longTimeout : Self.timeout
        let began = MonotonicClock.now
        let ends = await withTaskGroup(of: HostileServer.End?.self) { group in
            for caller in 0..<8 { group.addTask { await end(of: "mine \(caller)", at: echo, within: timeout) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let took = began.duration(to: MonotonicClock.now)
        #expect(took < timeout + FaultRuns.hostileSlack)
        if hostile.end == .either {
            #expect(ends.allSatisfy { $0 != nil })
        } else {
            #expect(ends.allSatisfy { $0 == hostile.end }, "\(ends)")
        }
        #expect(client.requester.pendingCalls == 0)
        // It does not run in circles either: with full jitter that is some ten attempts a second.
        let seconds = Int(took / .seconds(1)) + 1
        #expect(server.connections < 200 * seconds, "\(server.connections) connections in \(took)")
        client.close()
    }

    @Test(arguments: [
        "1.5", "1e400", "-1e400", "99999999999999999999", "9223372036854775808", "-9223372036854775809", "1e19", "true",
        "null", "\"5\"", "[5]", "{}", "0.1e-999999999", "1e99999999999999999999",
    ])
    func `a number that is none throws`(result: String) async throws {
        let server = try ScriptedServer { peer in
            try peer.welcome()
            while true { try peer.answer(try peer.hear(), result) }
        }
        let calculator = CalculatorProxy(RPCClient(server.url, .patient))
        await #expect(throws: RPCError.self) { try await calculator.add(2, 3) }
    }

    @Test func `what one connection owes cannot be paid on another`() async throws {
        let asked = Lock<[String]>([])
        let server = try ScriptedServer { peer in
            try peer.welcome()
            // On the first connection nothing is answered; on the second what was asked on the first, then its own.
            for id in asked.withLock({ $0 }) { try peer.say(ScriptedPeer.reply(id, #""stolen""#)) }
            while true {
                let question = try peer.hear()
                let isFirst = asked.withLock { asked in
                    asked.append(question.id ?? "")
                    return asked.count == 1
                }
                if isFirst { return }
                try peer.answer(question, question.argument)
            }
        }
        let echo = EchoProxy(RPCClient(server.url, .eager))
        #expect(await end(of: "first", at: echo) != nil)
        #expect(await end(of: "second", at: echo) != nil)
        #expect(await end(of: "third", at: echo) == .answered)
    }
}
