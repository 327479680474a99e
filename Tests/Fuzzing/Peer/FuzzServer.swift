// The listening end: several connections that claim each other's sessions.

import RPCSockets
import RPCWire
import TestSupport

@testable import RemoteProxy

/// Doubles, and knows how often it was asked for each number.
private final class CountingDoubler: Doubler {
    private let asked = Lock<[Int: Int]>([:])
    var mostAsked: Int { asked.withLock { $0.values.max() ?? 0 } }

    func twice(_ number: Int) async throws -> Int {
        count(number)
        return number &* 2
    }

    func note(_ number: Int) { count(number) }

    private func count(_ number: Int) { asked.withLock { $0[number, default: 0] += 1 } }
}

func fuzzServer(_ dice: inout Dice) {
    var settings = LinkSettings()
    settings.limits.maximumKeptReplies = 4
    settings.limits.maximumKeptReplyBytes = 400
    settings.limits.maximumRequestsInFlight = 8
    let network = SimulatedNetwork(settings: settings, maximumSessions: 3)
    let doubler = CountingDoubler()
    network.exports.add(DoublerProxy(doubler), named: nil)
    for name in ["a", "b"] { network.exports.add(DoublerProxy(doubler).locked(clock: network.loop), named: name) }
    var ends: [FuzzedEnd] = []
    var said = 0
    while !dice.isEmpty, said < 60 {
        said += 1
        if ends.isEmpty || dice.roll(8) == 0, ends.count < 6, let stream = try? network.rawStream() {
            ends.append(FuzzedEnd(stream))
        }
        guard !ends.isEmpty else { break }
        let end = ends[dice.roll(ends.count)]
        switch dice.roll(10) {
        case 0, 1: end.say(hello(&dice, ends))
        case 2: end.say(#"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":\#(dice.text(60))}"#)
        case 3, 4:
            // Each number is asked for once, so it may run once.
            end.say(#"{"jsonrpc":"2.0","method":"Doubler.twice","params":[\#(said)],"id":\#(dice.number())}"#)
        case 5:
            end.say(#"{"jsonrpc":"2.0","method":"Doubler.note","params":[\#(said)],"number":\#(dice.number())}"#)
        case 6: end.say(dice.notice())
        case 7: end.say(dice.roll(2) == 0 ? dice.text(80) : held(said, &dice))
        case 8: end.cut()
        default: network.loop.advance(by: .seconds(dice.roll(40)))
        }
        network.loop.run()
        require(doubler.mostAsked <= 1, "a request ran twice")
        require(network.sessions.count <= 3, "\(network.sessions.count) sessions")
        // Each may be over its limit by the calls that had begun.
        require(network.keptReplies <= 3 * (4 + said), "\(network.keptReplies) answers")
    }
    network.shutDown()
    network.loop.advance(by: .seconds(120))
    require(network.sessions.count == 0, "a session outlives its server")
}

private func hello(_ dice: inout Dice, _ ends: [FuzzedEnd]) -> String {
    let sessions = ends.flatMap(\.lines).compactMap { member("session", of: $0) }
    let session = sessions.isEmpty || dice.roll(4) == 0 ? "\"\"" : sessions[dice.roll(sessions.count)]
    let resumption = dice.roll(3) == 0 ? "" : #","resume":{"session":\#(session),"received":\#(dice.progress())}"#
    let others = dice.roll(2) == 0 ? "" : #","timeout":\#(dice.number()),"maximumFrameSize":\#(dice.number())"#
    return
        #"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":{"protocol":\#(dice.roll(3))\#(resumption)\#(others)}}"#
}

/// Something about a hold: one is asked for, given back or called under, and few handles go round.
private func held(_ number: Int, _ dice: inout Dice) -> String {
    let object = ["a", "b", "#1", "#2", "#3"][dice.roll(5)]
    let id = #","id":\#(1_000 + number)"#
    let (method, params) =
        switch dice.roll(4) {
        case 0, 1: ("rpc.hold", #"{"object":"Doubler[\#(object)]","lease":\#(dice.roll(256) * 100)}"#)
        case 2: ("rpc.release", "[[\(1 + dice.roll(4)),\(dice.roll(3))]]")
        default: ("Doubler[\(object)].twice", "[\(number)]")
        }
    return #"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params)\#(method == "rpc.release" ? "" : id)}"#
}
