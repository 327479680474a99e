// Calls of one method that wait behind one another and are told to stop: the worker that has run several of them is told what
// the one is told that it runs now.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Calls in line that are stopped` {
    private let network = SimulatedNetwork()
    private let office: TicketOffice

    init() {
        office = TicketOffice(loop: network.loop)
        network.exports.add(TicketsProxy(office), named: nil)
    }

    /// The tickets of those that have lingered, in the order of their return.
    private var returned: [Int] { office.log.withLock { $0.filter { $0 < 0 }.map { -$0 } } }

    private func passSecond() { network.loop.advance(by: .seconds(1)) }

    /// The worker of the second has run the first, that of the fourth has run the third, whose times are over earlier.
    @Test func `each at its own deadline, and not at that of one before it`() throws {
        let end = try HandwrittenEnd(network)
        end.ask(for: ["", "linger", "", "linger", ""])
        for gone in [[], [2], [2], [2, 4], [2, 4]] {
            passSecond()
            #expect(returned == gone)
        }
        let text = end.take().joined()
        for id in [2, 4] { #expect(text.contains(#"{"jsonrpc":"2.0","id":\#(id),"result":"\#(id) cancelled 0"}"#)) }
    }

    /// The places in the table, and the workers, have served others before.
    @Test func `at their deadlines where others have been before`() throws {
        let end = try HandwrittenEnd(network)
        end.ask(for: ["linger", "", "linger", ""])
        for _ in 1...3 { passSecond() }
        #expect(returned == [1, 3])
        end.ask(for: ["", "linger", "linger"])
        for gone in [[], [2], [2, 3]] {
            passSecond()
            #expect(returned == [1, 3] + gone)
        }
    }

    /// One worker runs calls of both, one after the other.
    @Test func `with their connection, and not with that of one before them`() throws {
        let (left, right) = (try HandwrittenEnd(network), try HandwrittenEnd(network))
        left.send(#"{"jsonrpc":"2.0","method":"Tickets.take","params":[1,""],"id":1}"#)
        right.send(#"{"jsonrpc":"2.0","method":"Tickets.take","params":[2,"linger"],"id":2}"#)
        #expect(left.take().count == 1)
        left.say(#"{"jsonrpc":"2.0","method":"Tickets.take","params":[3,"linger"],"id":3}"#)
        #expect(office.log.withLock { $0 } == [1, 2, 3])
        left.cut()
        #expect(returned == [3])
        right.cut()
        #expect(returned == [3, 2])
    }
}
