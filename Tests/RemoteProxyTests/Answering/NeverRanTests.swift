// Calls for which the subject is never called: what is known of how long its methods keep their threads stays as it is.

import RPCSockets
import RPCWire
import Synchronization
import TestSupport
import Testing

@testable import RemoteProxy

@Suite(.waitsForOthers) struct `A call that never ran` {
    private let network = SimulatedNetwork()

    init() { network.exports.add(TicketsProxy(TicketOffice(loop: network.loop)), named: nil) }

    private func method() throws -> _ExportedMethod {
        try #require(network.exports.method(named: Bytes("Tickets.take")))
    }

    @Test(arguments: [["incomplete"], ["withdrawn"], ["withdrawn", "incomplete"]])
    func `says nothing of how long its method takes`(_ deeds: [String]) throws {
        let (method, end) = (try method(), try HandwrittenEnd(network))
        method.keepsThread.store(true, ordering: .relaxed)
        end.ask(for: deeds)
        #expect(method.isExpectedToBlock)
        #expect(end.take().joined().ranges(of: "error").count == deeds.count)
        end.ask(for: ["fail"])
        #expect(!method.isExpectedToBlock)
    }

    /// The text is so long that another thread has the loop by the time that one argument too many is found.
    @Test func `says nothing of it where the loop has gone on elsewhere either`() async throws {
        let loop = try EventLoop(name: "elsewhere", watch: LoopWatch(maximumBlockedThreads: 64))
        defer { loop.shutdown() }
        let method = try method()
        method.keepsThread.store(true, ordering: .relaxed)
        let (client, server) = InMemoryStream.pair(on: loop)
        let peer = Peer(runner: RequestRunner(loop: loop), exports: network.exports, settings: Peer.Settings())
        let connection = Connection(server, number: 1, peer: peer, role: .accepted(SessionTable()), events: .init())
        let receiver = FirstAnswer()
        loop.submit {
            client.open(receiver)
            connection.open()
            let text = String(repeating: "x", count: 16 << 10)
            let call = Bytes(#"{"jsonrpc":"2.0","method":"Tickets.take","params":[1,"\#(text)",3],"id":1}"#)
            call.withUnsafeBytes { _ = client.append($0, framing: .lines) }
            client.flush()
        }
        #expect(await receiver.answers.first { _ in true }?.contains("-32602") == true)
        #expect(method.isExpectedToBlock)
        client.abort()
    }
}

/// Hears what comes first.
private final class FirstAnswer: ByteStreamReceiver {
    let answers: AsyncStream<String>
    private let heard: AsyncStream<String>.Continuation

    init() { (answers, heard) = AsyncStream.makeStream() }

    func received(_ bytes: Bytes) { heard.yield(bytes.description) }
    func ended(_ end: StreamEnd, sent: UInt64) { heard.finish() }
}

extension _ExportedMethod {
    fileprivate var isExpectedToBlock: Bool { keepsThread.load(ordering: .relaxed) }
}
