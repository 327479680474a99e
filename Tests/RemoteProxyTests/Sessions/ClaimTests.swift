// Who may go on with a session, and what happens to those who only pretend: hellos and calls written by hand.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Claims to a session` {
    private let network = SimulatedNetwork()
    private let probe: RecordingProbe

    init() {
        probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
    }

    private func begin(at network: SimulatedNetwork? = nil) throws -> (end: HandwrittenEnd, session: String) {
        let end = try HandwrittenEnd(network ?? self.network)
        end.say(#"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":{"protocol":1}}"#)
        let welcome = try #require(end.take().first)
        return (end, try #require(welcome.split(separator: "\"").first { $0.count == 32 }.map(String.init)))
    }

    private func resume(
        _ session: String, requests: Int = 0, replies: Int = 0, at network: SimulatedNetwork? = nil
    ) throws -> HandwrittenEnd {
        let end = try HandwrittenEnd(network ?? self.network)
        let received = #"{"requests":\#(requests),"replies":\#(replies)}"#
        let resumption = #"{"session":"\#(session)","received":\#(received)}"#
        end.say(#"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":{"protocol":1,"resume":\#(resumption)}}"#)
        return end
    }

    private func echo(_ number: Int, id: Int) -> String {
        #"{"jsonrpc":"2.0","method":"Probe.echo","params":[\#(number)],"id":\#(id)}"#
    }

    /// Row C5 of "What became of my call".
    @Test func `a call runs once, whether it comes again over the same connection or the next`() throws {
        let (first, session) = try begin()
        first.say(echo(7, id: 1))
        #expect(first.take() == [#"{"jsonrpc":"2.0","id":1,"result":7}"#])
        first.say(echo(7, id: 1))
        #expect(first.take().first?.contains("came before") == true)
        first.cut()
        let second = try resume(session)
        let answers = second.take()
        #expect(answers.first?.contains(#""resumed":{"requests":1,"replies":0}"#) == true)
        // Nothing had been acknowledged: all comes again, in order.
        #expect(answers.dropFirst().first == #"{"jsonrpc":"2.0","id":1,"result":7}"#)
        second.say(echo(7, id: 1))
        second.say(echo(8, id: 2))
        #expect(second.take().last == #"{"jsonrpc":"2.0","id":2,"result":8}"#)
        #expect(probe.executed == [7, 8])
    }

    @Test func `a number below those that have come is never run, nor is one that was left out`() throws {
        let (end, _) = try begin()
        end.say(echo(1, id: 10))
        end.say(echo(2, id: 9))
        end.say(echo(3, id: -1))
        end.say(#"{"jsonrpc":"2.0","method":"Probe.note","params":[4],"number":10}"#)
        end.say(#"{"jsonrpc":"2.0","method":"Probe.note","params":[5],"number":11}"#)
        _ = end.take()
        #expect(probe.executed == [1])
        #expect(probe.noted == [5])
    }

    /// Row C5 of "What became of my call".
    @Test func `what has been acknowledged does not come again`() throws {
        let (first, session) = try begin()
        for id in 1...3 { first.say(echo(id, id: id)) }
        #expect(first.take().count == 3)
        first.say(#"{"jsonrpc":"2.0","method":"rpc.received","params":{"requests":0,"replies":1}}"#)
        _ = first.take()
        #expect(network.keptReplies == 2)
        first.cut()
        let second = try resume(session, replies: 2)
        #expect(second.take().dropFirst() == [#"{"jsonrpc":"2.0","id":3,"result":3}"#])
        #expect(network.keptReplies == 1)
    }

    @Test(arguments: [Int.min, -1])
    func `numbers below zero harm nobody`(_ number: Int) throws {
        let (first, session) = try begin()
        first.say(echo(1, id: 1))
        first.say(
            #"{"jsonrpc":"2.0","method":"rpc.received","params":{"requests":\#(number),"replies":\#(number)}}"#)
        _ = first.take()
        first.cut()
        let second = try resume(session, requests: number, replies: number)
        #expect(second.take().first?.contains("resumed") == true)
        second.say(echo(2, id: 2))
        #expect(second.take() == [#"{"jsonrpc":"2.0","id":2,"result":2}"#])
    }

    @Test(arguments: [(requests: 1, replies: 0), (0, 2), (Int.max, Int.max)])
    func `who comes back with more than was sent is turned away, and the session is over`(
        requests: Int, replies: Int
    ) throws {
        let (first, session) = try begin()
        let (neighbour, _) = try begin()
        first.say(echo(1, id: 1))
        _ = first.take()
        let second = try resume(session, requests: requests, replies: replies)
        #expect(second.take().isEmpty)
        #expect(second.hasEnded && first.hasEnded)
        let third = try resume(session)
        #expect(third.take().first?.contains("resumed") == false)
        neighbour.say(echo(2, id: 1))
        #expect(neighbour.take() == [#"{"jsonrpc":"2.0","id":1,"result":2}"#])
        #expect(probe.executed == [1, 2])
    }

    @Test func `who says that it has more than was sent is turned away at once`() throws {
        let (end, session) = try begin()
        end.say(echo(1, id: 1))
        end.say(#"{"jsonrpc":"2.0","method":"rpc.received","params":{"requests":0,"replies":1}}"#)
        #expect(!end.hasEnded)
        end.say(
            #"{"jsonrpc":"2.0","method":"rpc.received","params":{"requests":0,"replies":2}}"# + "\n" + echo(2, id: 2))
        #expect(end.hasEnded)
        #expect(end.take().count == 1)
        #expect(probe.executed == [1])
        #expect(try resume(session).take().first?.contains("resumed") == false)
    }

    @Test func `that the answers to a batch are too long is one answer, and counts`() throws {
        var settings = LinkSettings()
        settings.limits.maximumFrameSize = 600
        let end = try HandwrittenEnd(SimulatedNetwork(settings: settings))
        end.say(#"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":{"protocol":1}}"#)
        _ = end.take()
        end.say("[" + (1...12).map { #"{"jsonrpc":"2.0","method":"a","id":\#($0)}"# }.joined(separator: ",") + "]")
        let answers = end.take()
        #expect(answers.count == 1 && answers.first?.hasPrefix("{") == true, "\(answers)")
        end.say(#"{"jsonrpc":"2.0","method":"rpc.received","params":{"requests":0,"replies":1}}"#)
        #expect(!end.hasEnded)
    }

    /// Row C8 of "What became of my call".
    @Test func `a client whose server has more than it was sent begins anew, and its call ends`() throws {
        let client = network.client()
        let proxy = ProbeProxy(client)
        #expect(try network.loop.complete { try await proxy.echo(1) } == 1)
        let known = try #require(network.loop.pretend { Link.resumable(by: client.requester) })
        // One changed digit on the way is enough: the server believes that calls have come which never did.
        let link = try #require(network.sessions.claim(known.id, by: nil))
        let isFresh = network.loop.pretend { link.half.receipts.request(1_000, isPost: false, bytes: 0) }
        #expect(isFresh)
        // The next one has left, and is lost on the way.
        var faults = WireFaults()
        faults.isHeld = true
        network.inject(faults)
        let call = Task(executorPreference: network.loop) { try await proxy.wait(2, milliseconds: 60_000) }
        network.loop.run()
        network.inject(WireFaults())
        network.cut()
        let error = try #require(throws: RPCError.self) { try network.loop.complete { try await call.value } }
        #expect(error.code == .connectionLost)
        #expect(error.outcome == .unknown)
        #expect(network.loop.now < Instant(nanoseconds: 1_000_000_000))
        #expect(try network.loop.complete { try await proxy.echo(3) } == 3)
        #expect(probe.executed == [1, 3])
    }

    @Test func `of two that claim a session the later has it, and the former is closed`() throws {
        let (first, session) = try begin()
        let second = try resume(session)
        #expect(second.take().first?.contains("resumed") == true)
        #expect(first.hasEnded)
        let third = try resume(session)
        second.say(echo(1, id: 1))
        third.say(echo(2, id: 2))
        #expect(third.take().last == #"{"jsonrpc":"2.0","id":2,"result":2}"#)
        #expect(second.hasEnded)
        #expect(second.take().isEmpty)
        #expect(probe.executed == [2])
    }

    /// The table takes it for one without a connection for that moment.
    @Test func `a session whose former connection is lost while the next takes over is in use`() throws {
        let network = SimulatedNetwork(maximumSessions: 1)
        network.exports.add(ProbeProxy(probe), named: nil)
        let (first, session) = try begin(at: network)
        network.whenHandedOver { first.cut() }
        let second = try resume(session, at: network)
        #expect(second.take().first?.contains("resumed") == true)
        // There is no room for another session, so this one has none that outlives its connection.
        let (other, _) = try begin(at: network)
        other.say(echo(1, id: 1))
        second.say(echo(2, id: 1))
        #expect(second.take() == [#"{"jsonrpc":"2.0","id":1,"result":2}"#])
        second.cut()
        #expect(try resume(session, at: network).take().first?.contains("resumed") == true)
    }

    @Test func `an unknown session and somebody else's are answered alike`() throws {
        let (owner, session) = try begin()
        let known = try #require(network.sessions.claim(session, by: nil))
        known.identity = Identity(name: "owner")
        let answers = try [session, String(session.reversed()), ""].map { try #require(resume($0).take().first) }
        for answer in answers {
            #expect(!answer.contains("resumed") && !answer.contains(session))
            #expect(answer.count == answers[0].count)
        }
        owner.say(echo(1, id: 1))
        #expect(owner.take() == [#"{"jsonrpc":"2.0","id":1,"result":1}"#])
        #expect(!owner.hasEnded)
    }

    @Test func `a session is asked for first or not at all`() throws {
        let (owner, session) = try begin()
        let (other, _) = try begin()
        other.say(
            #"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":{"resume":{"session":"\#(session)","#
                + #""received":{"requests":0,"replies":0}}}}"#)
        #expect(other.take().first?.contains("resumed") == false)
        #expect(!owner.hasEnded)
    }
}

/// One end of a connection to the server of a network, whose messages are written by hand, a line each.
final class HandwrittenEnd: ByteReceiver {
    private let network: SimulatedNetwork
    private let stream: any ByteChannel
    private let text = Lock("")
    private let isOver = Lock(false)

    init(_ network: SimulatedNetwork) throws {
        self.network = network
        stream = try network.rawStream()
        stream.open(self)
        network.loop.run()
    }

    var hasEnded: Bool { isOver.withLock { $0 } }

    func say(_ line: String) {
        send(line)
        network.loop.run()
    }

    /// It is on its way.
    func send(_ line: String) {
        Bytes(line).withUnsafeBytes { _ = stream.append($0, framing: .lines) }
        stream.flush()
    }

    /// Sends a text as it is.
    func sendRaw(_ text: String) {
        Bytes(text).withUnsafeBytes { _ = stream.write($0) }
        stream.flush()
    }

    /// What has come since the last time.
    func take() -> [String] {
        network.loop.run()
        let all = text.withLock { text in
            defer { text = "" }
            return text
        }
        return all.split(separator: "\n").map(String.init)
    }

    func cut() {
        stream.abort()
        network.loop.run()
    }

    func received(_ bytes: Bytes) { text.withLock { $0 += bytes.description } }
    func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) { isOver.withLock { $0 = true } }
}
