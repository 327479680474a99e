// Replies that come behind many requests: they are delivered while the requests wait.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Service
private protocol Desk: Sendable {
    func ask() async throws -> Int
    func note(_ number: Int)
}

/// Asks its caller in turn. Its log has the notes by their numbers, and 0 for the caller's answer.
private final class AskingDesk: Desk {
    let log = Lock<[Int]>([])
    private let loop: ManualLoop

    init(_ loop: ManualLoop) { self.loop = loop }

    func ask() async throws -> Int {
        guard let caller = Caller.current else { return -1 }
        let answer = try await DeskProxy(caller).ask()
        log.withLock { $0.append(0) }
        return answer
    }
    /// Takes longer than a turn of the loop.
    func note(_ number: Int) {
        loop.pass(.milliseconds(2))
        log.withLock { $0.append(number) }
    }
}

@Suite struct `Replies behind requests` {
    private let network = SimulatedNetwork()
    private let desk: AskingDesk

    init() {
        desk = AskingDesk(network.loop)
        network.exports.add(DeskProxy(desk), named: nil)
    }

    private static func note(_ number: Int) -> String {
        #"{"jsonrpc":"2.0","method":"Desk.note","params":[\#(number)]}"#
    }

    @Test func `are delivered before the requests have begun`() throws {
        let end = try HandwrittenEnd(network)
        end.say(#"{"jsonrpc":"2.0","method":"Desk.ask","id":7}"#)
        #expect(end.take() == [#"{"jsonrpc":"2.0","method":"Desk.ask","params":[],"id":1}"#])
        for number in 1...3_000 { end.send(Self.note(number)) }
        end.send(#"{"jsonrpc":"2.0","id":1,"result":5}"#)
        #expect(end.take() == [#"{"jsonrpc":"2.0","id":7,"result":5}"#])
        let log = desk.log.withLock { $0 }
        #expect(try #require(log.firstIndex(of: 0)) < 100)
        #expect(log.filter { $0 != 0 } == Array(1...3_000))
    }

    @Test func `and requests before broken bytes are still answered`() throws {
        let end = try HandwrittenEnd(network)
        for number in 1...1_000 { end.send(Self.note(number)) }
        end.send(#"{"jsonrpc":"2.0","method":"Desk.nothing","id":8}"#)
        // Longer than a message may be.
        end.send(String(repeating: "x", count: FrameLimits().maximumFrameSize + 1))
        let answers = end.take()
        #expect(answers.count == 2)
        #expect(answers.first?.contains(#""id":8,"error":{"code":-32601"#) == true)
        #expect(answers.last?.contains("maximumFrameSize") == true)
        #expect(end.hasEnded)
    }

    @Test func `a cancellation finds its call among those that wait`() throws {
        let end = try HandwrittenEnd(network)
        for number in 1...1_000 { end.send(Self.note(number)) }
        end.send(#"{"jsonrpc":"2.0","method":"Desk.ask","id":9}"#)
        end.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}"#)
        let answers = end.take()
        #expect(answers.contains { $0.contains(#""id":9,"error":{"code":-32800"#) })
    }
}
