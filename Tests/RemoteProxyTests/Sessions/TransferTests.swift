// Transfers: messages with an order of their own in a session, which pass the requests that wait and arrive exactly once.

import JSONCodec
import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Service
private protocol Ledger: Sendable {
    func note(_ number: Int)
}

/// Takes longer than a turn of the loop for each note.
private final class SlowLedger: Ledger {
    let notes = Lock(0)
    private let loop: ManualLoop
    init(_ loop: ManualLoop) { self.loop = loop }

    func note(_ number: Int) {
        loop.pass(.milliseconds(2))
        notes.withLock { $0 += 1 }
    }
}

@Suite struct `Transfers` {
    private let network = SimulatedNetwork()
    private let ledger: SlowLedger
    private let client: RPCClient
    /// What has come to the server and to the client.
    private let arrived = Lock((far: [Int](), near: [Int]()))

    init() throws {
        ledger = SlowLedger(network.loop)
        network.exports.add(LedgerProxy(ledger), named: nil)
        network.exports.add(ProbeProxy(RecordingProbe(network.loop)), named: nil)
        client = network.client()
        let probe = ProbeProxy(client)
        _ = try network.loop.complete { try await probe.echo(1) }
        try watch()
    }

    private func links() throws -> (near: Link, far: Link) {
        let near = try #require(client.requester.link)
        return (near, try #require(network.sessions.link(named: near.id)))
    }

    private func watch() throws {
        let (near, far) = try links()
        near.onTransfer = { [arrived] transfer in arrived.withLock { $0.near.append(Self.number(in: transfer)) } }
        far.onTransfer = { [arrived] transfer in arrived.withLock { $0.far.append(Self.number(in: transfer)) } }
    }

    private static func number(in transfer: Request) -> Int {
        transfer.params.flatMap { try? decodeJSON([Int].self, from: $0.memory).first } ?? -1
    }

    private func send(_ number: Int, over link: Link) {
        let isTaken = Lock(false)
        network.loop.pretend {
            isTaken.withLock { $0 = link.transfer("rpc.elements") { $0.append(raw: "[\(number)]") } }
        }
        #expect(isTaken.withLock { $0 })
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `arrive once and in order, whatever happens to connections`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (near, far) = try links()
        var sent = (near: 0, far: 0)
        for _ in 0..<300 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: network.cut()
            case 1: network.loop.advance(by: .seconds(2))
            case 2: network.loop.run()
            case 3...6:
                sent.near += 1
                send(sent.near, over: near)
            default:
                sent.far += 1
                send(sent.far, over: far)
            }
        }
        network.loop.advance(by: .seconds(10))
        let (there, here) = arrived.withLock { ($0.far, $0.near) }
        #expect(there == Array(1...sent.near))
        #expect(here == Array(1...sent.far))
        let kept = network.loop.pretend {
            near.half.keptBytes - near.half.replies.byteCount + far.half.keptBytes - far.half.replies.byteCount
        }
        #expect(kept == 0)
    }

    @Test func `pass the requests that wait`() throws {
        let (near, _) = try links()
        let before = Lock(-1)
        let (_, far) = try links()
        far.onTransfer = { [ledger] _ in before.withLock { $0 = ledger.notes.withLock { $0 } } }
        // On the loop, where one turn sends all of them.
        network.loop.pretend {
            for number in 1...1_000 { LedgerProxy(client).note(number) }
            _ = near.transfer("rpc.elements") { $0.append(raw: "[1]") }
        }
        network.loop.advance(by: .seconds(30))
        #expect(ledger.notes.withLock { $0 } == 1_000)
        let count = before.withLock { $0 }
        #expect((0..<300).contains(count))
    }

    @Test func `are not sent to an end that knows none, whether it is there or away`() throws {
        let end = try HandwrittenEnd(network)
        end.say(#"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":{"protocol":2}}"#)
        let welcome = try #require(end.take().first)
        let id = try #require(welcome.split(separator: "\"").first { $0.count == Link.lengthOfID }.map(String.init))
        let link = try #require(network.sessions.link(named: id))
        func isTaken() -> Bool {
            let isTaken = Lock(true)
            network.loop.pretend { isTaken.withLock { $0 = link.transfer("rpc.elements") { $0.append(raw: "[]") } } }
            return isTaken.withLock { $0 }
        }
        #expect(!isTaken())
        #expect(end.take().isEmpty)
        end.cut()
        network.loop.run()
        #expect(!isTaken())
        network.loop.pretend {
            #expect(link.half.life.isResumable)
            #expect(link.half.keptBytes == link.half.replies.byteCount)
        }
    }

    @Test func `of which one is missing end the session`() throws {
        let (near, far) = try links()
        network.loop.pretend { Bytes("{}").withUnsafeBytes { near.half.sent(transfer: $0) } }
        send(2, over: near)
        network.loop.run()
        let (there, isOver) = (arrived.withLock { $0.far }, network.loop.pretend { far.half.life.isOver })
        #expect(there == [] && isOver)
    }
}
