// Calls of one method that wait behind one another: a worker goes from each to the next without going back in between, and
// each is a call of its own all the same.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Calls in line` {
    private let network = SimulatedNetwork()
    private let office: TicketOffice
    private let end: HandwrittenEnd

    init() throws {
        office = TicketOffice(loop: network.loop)
        network.exports.add(TicketsProxy(office), named: nil)
        end = try HandwrittenEnd(network)
    }

    private func take(_ deeds: String...) { end.ask(for: deeds) }

    /// What has come back, and in what order.
    private func answers() -> String { end.take().joined() }

    private func result(_ id: Int, _ result: String) -> String { #"{"jsonrpc":"2.0","id":\#(id),"result":\#(result)}"# }

    @Test func `each has its own arguments, its own time and its own answer`() {
        take("", "", "count", "")
        let expected = [#""1 runs 1000""#, #""2 runs 2000""#, "2", #""4 runs 4000""#]
        #expect(answers() == "[" + zip(1..., expected).map(result).joined(separator: ",") + "]")
    }

    @Test func `what one does wrong is its own affair`() {
        take("", "fail", "", "incomplete", "", "withdrawn", "")
        let text = answers()
        for id in [1, 3, 5, 7] { #expect(text.contains(result(id, #""\#(id) runs \#(id)000""#))) }
        #expect(text.contains(#""id":2,"error""#) && text.contains("soldOut"))
        #expect(text.contains(#""id":4,"error""#) && text.contains("-32602"))
        #expect(text.contains(#""id":6,"error":{"code":-32800"#))
        #expect(text.ranges(of: #""id":"#).count == 7)
        #expect(office.log.withLock { $0 } == [1, 2, 3, 5, 7])
    }

    @Test func `each is its own session's`() throws {
        let ends = [end, try HandwrittenEnd(network), try HandwrittenEnd(network)]
        for end in ends {
            end.send(#"{"jsonrpc":"2.0","method":"Tickets.take","params":[1,"who"],"id":1}"#)
        }
        let answers = ends.map { $0.take().joined() }
        #expect(Set(answers).count == 3 && answers.allSatisfy { $0.contains("result") && !$0.contains("nobody") })
    }

    @Test func `of a held object have their own time each`() {
        network.exports.add(TicketsProxy(office).locked(clock: network.loop), named: "box")
        let hold = #""params":{"object":"Tickets[box]","lease":60000}"#
        end.say(#"{"jsonrpc":"2.0","method":"rpc.hold",\#(hold),"id":9}"#)
        #expect(answers().contains(#""id":9,"result""#))
        network.exports.add(TicketsProxy(office), named: "box")
        end.ask(for: ["", "", ""], from: "Tickets[#1]")
        let text = answers()
        for id in 1...3 { #expect(text.contains(result(id, #""\#(id) runs \#(id)000""#))) }
    }

    /// The first is over by then, though the same worker has run it.
    @Test(arguments: [1, 2]) func `who is told to stop is the one that stops`(_ id: Int) {
        take("", "wait", "", "")
        end.say(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#(id)}}"#)
        network.loop.advance(by: .seconds(1))
        let text = answers()
        for id in [1, 3, 4] { #expect(text.contains(result(id, #""\#(id) runs \#(id)000""#))) }
        #expect(text.contains(id == 2 ? "2 cancelled 2000" : "2 runs 1000"))
    }

    @Test func `those behind one whose task was cancelled run in another`() {
        take("", "cancel", "", "")
        let text = answers()
        #expect(text.contains("2 cancelled 2000") && text.contains("3 runs 3000") && text.contains("4 runs 4000"))
    }

    /// Nothing but the cancellation tells these calls apart, so one worker could run them all.
    @Test(arguments: ["", #""timeout":5000,"#])
    func `those behind one whose task was cancelled run in another, also if they have the same time`(time: String) {
        end.ask(for: ["", "cancel", "", "fail", ""], eachWith: time)
        let text = answers()
        let left = time.isEmpty ? 0 : 5_000
        for id in [1, 3, 5] { #expect(text.contains(result(id, #""\#(id) runs \#(left)""#))) }
        #expect(text.contains("2 cancelled") && text.contains("soldOut"))
    }

    @Test func `one that leaves a task running leaves it its own time`() {
        take("", "leave", "", "")
        #expect(answers().contains("3 runs 3000"))
        network.loop.advance(by: .seconds(1))
        #expect(office.log.withLock { $0 } == [1, 2, 3, 4, -2])
    }

    @Test func `those behind one that waits do not wait for it`() {
        take("", "wait", "", "")
        #expect(office.log.withLock { $0 } == [1, 2, 3, 4])
        network.loop.advance(by: .seconds(1))
        #expect(answers().hasSuffix(result(2, #""2 runs 1000""#) + "]"))
    }

    @Test func `a long line lets the loop see to others after a millisecond`() throws {
        end.ask(for: ["send for others"] + Array(repeating: "toil", count: 95))
        let turn = try #require(office.log.withLock { $0.firstIndex(of: 0) })
        #expect(turn > 60 && turn < 90)
    }

    @Test func `each is finished where its answer is written`() {
        let asked = Lock(0)
        network.loop.whenTakenBack {
            asked.withLock { $0 += 1 }
            return false
        }
        take("", "", "", "", "", "")
        // By the worker when it begins, and once after each call.
        #expect(asked.withLock { $0 } == 7)
    }

    @Test func `one that has lost the loop is finished where the loop is`() {
        let asked = Lock(0)
        network.loop.whenTakenBack {
            asked.withLock { asked in
                asked += 1
                // After the second call, which finds it twice and once more where it looks for the loop.
                return (3...5).contains(asked)
            }
        }
        take("", "send for others", "", "")
        #expect(office.log.withLock { $0 } == [1, 2, 0, 3, 4])
        #expect(answers().ranges(of: #""id":"#).count == 4)
    }

    /// The loop is never really anywhere else.
    @Test(arguments: 1...4) func `whoever loses the loop, all are answered`(turn: Int) {
        let asked = Lock(0)
        network.loop.whenTakenBack {
            asked.withLock { asked in
                asked += 1
                return (turn...turn + 1).contains(asked % 7)
            }
        }
        take("", "", "", "", "", "")
        let text = answers()
        for id in 1...6 { #expect(text.contains(result(id, #""\#(id) runs \#(id)000""#))) }
    }
}
