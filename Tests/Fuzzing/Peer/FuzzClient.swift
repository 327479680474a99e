// The dialling end: a client whose server is the input.

import RPCSockets
import RPCWire
import TestSupport

@testable import RemoteProxy

/// The servers that the client finds, one for each time it dials.
final class FuzzedServer: Sendable {
    let loop = ManualLoop()
    private let state = Lock((isServing: true, ends: [FuzzedEnd]()))

    var ends: [FuzzedEnd] { state.withLock { $0.ends } }

    var dialer: Dialer {
        Dialer(loop: loop) { [self] done in
            loop.submit { [self] in
                guard state.withLock({ $0.isServing }) else { return done(.failure(SetupError("away"))) }
                let (client, server) = MemoryChannel.pair(on: loop)
                state.withLock { $0.ends.append(FuzzedEnd(server)) }
                done(.success(client))
            }
            return {}
        }
    }

    func goAway() {
        state.withLock { $0.isServing = false }
        for end in ends { end.cut() }
    }
}

func fuzzClient(_ dice: inout Dice) {
    let server = FuzzedServer()
    var configuration = RPCClient.Configuration()
    configuration.peer = .jsonRPC(.lines)
    configuration.saysHello = dice.roll(4) > 0
    configuration.timeout = .seconds(10)
    let client = RPCClient(server.dialer, configuration, chance: { 1 })
    client.export(DoublerProxy(Doubling()))
    let answers = Lock<[Int: [Int?]]>([:])
    var (calls, steps) = (0, 0)
    while !dice.isEmpty, steps < 60 {
        steps += 1
        if calls == 0 || dice.roll(4) == 0 {
            call(client, calls, server.loop, answers)
            calls += 1
        } else if let end = server.ends.last {
            let id = dice.roll(3) == 0 ? dice.number() : Int64(dice.roll(calls + 2))
            switch dice.roll(10) {
            case 0, 1, 2: end.say(welcome(&dice, server.ends))
            case 3: end.say(#"{"jsonrpc":"2.0","id":0,"result":\#(dice.text(60))}"#)
            // The answer tells the id that it was given to.
            case 4, 5: end.say(#"{"jsonrpc":"2.0","id":\#(id),"result":\#(id)}"#)
            case 6:
                end.say(#"{"jsonrpc":"2.0","id":\#(id),"error":{"code":\#(-32_000 - dice.roll(80)),"message":"x"}}"#)
            case 7: end.say(dice.notice())
            // On the loop, since a post made elsewhere is sent by another thread, at a time of its own.
            case 8:
                if dice.roll(2) == 0 {
                    server.loop.submit { DoublerProxy(client).note(1) }
                } else {
                    end.say(dice.text(80))
                }
            default: if dice.roll(2) == 0 { end.cut() } else { server.loop.advance(by: .seconds(dice.roll(8))) }
            }
        }
        server.loop.run()
        require(client.requester.pendingCalls <= calls, "more calls than were made")
    }
    server.goAway()
    server.loop.advance(by: .seconds(60))
    let ends = answers.withLock { $0 }
    require(client.requester.pendingCalls == 0, "a call is still in the table")
    let asked = askedFor(server.ends)
    for number in 0..<calls {
        let end = ends[number] ?? []
        require(end.count == 1, "call \(number) ended \(end.count) times")
        if let id = end.first ?? nil {
            require(asked.contains { $0 == (id, number) }, "call \(number) was given the answer to \(id)")
        }
    }
    client.close()
    server.loop.advance(by: .seconds(60))
}

private struct Doubling: Doubler {
    func twice(_ number: Int) async throws -> Int { number &* 2 }
    func note(_ number: Int) {}
}

private func call(_ client: RPCClient, _ number: Int, _ loop: ManualLoop, _ answers: Lock<[Int: [Int?]]>) {
    let proxy = DoublerProxy(client)
    Task(executorPreference: loop) {
        let answer = try? await proxy.twice(number)
        answers.withLock { $0[number, default: []].append(answer) }
    }
}

/// Which calls were sent under which ids.
private func askedFor(_ ends: [FuzzedEnd]) -> [(Int, Int)] {
    ends.flatMap(\.lines).compactMap { line in
        guard line.contains("Doubler.twice"), let id = member("id", of: line).flatMap({ Int($0) }),
            let number = member("params", of: line).flatMap({ Int($0.dropFirst()) })
        else { return nil }
        return (id, number)
    }
}

private func welcome(_ dice: inout Dice, _ ends: [FuzzedEnd]) -> String {
    // The session that the client asks for, or another.
    let sessions = ends.flatMap(\.lines).compactMap { member("session", of: $0) }
    let session = sessions.isEmpty || dice.roll(3) == 0 ? "\"session \(dice.roll(3))\"" : sessions[sessions.count - 1]
    let resumed = dice.roll(2) == 0 ? "" : #","resumed":\#(dice.progress())"#
    let size = dice.roll(6) == 0 ? #","maximumFrameSize":\#(dice.number())"# : ""
    return #"{"jsonrpc":"2.0","id":0,"result":{"protocol":1,"session":\#(session)\#(resumed)\#(size)}}"#
}
