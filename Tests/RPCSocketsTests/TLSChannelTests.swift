import CSystem
import RPCWire
import TestSupport
import Testing

@testable import RPCSockets

/// Two ends of TLS over memory, on a loop that runs when the test says so.
@Suite(.waitsForOthers, .enabled(if: TLSParts.shared != nil)) struct TLSChannelTests {
    /// Both ends, and what each has received.
    private struct Pair {
        let loop = ManualLoop()
        let (near, far): (any ByteChannel, any ByteChannel)
        let (nearInside, farInside): (MemoryChannel, MemoryChannel)
        let (nearReceiver, farReceiver): (RecordingReceiver, RecordingReceiver)
        let nearEnds = Diary<String>()
        let farEnds = Diary<String>()

        init(
            host: String = "localhost", resumption: TLSResumption = TLSResumption(), _ faults: WireFaults = WireFaults()
        ) {
            (nearInside, farInside) = MemoryChannel.pair(on: loop)
            (nearInside.faults, farInside.faults) = (faults, faults)
            far = TLSParts.wrap(farInside, dials: false) { [farEnds] in farEnds.note("\($0)") }
            near = TLSParts.wrap(nearInside, dials: true, host: host, resumption: resumption) { [nearEnds] in
                nearEnds.note("\($0)")
            }
            (nearReceiver, farReceiver) = (RecordingReceiver(on: loop), RecordingReceiver(on: loop))
            near.open(nearReceiver)
            far.open(farReceiver)
        }
    }

    private static func inPieces(_ size: Int) -> WireFaults {
        var faults = WireFaults()
        faults.pieceSize = size
        return faults
    }

    @Test(arguments: [1, 7, 100, .max])
    func `what is written arrives, in whatever pieces the sealed bytes come`(size: Int) {
        let pair = Pair(Self.inPieces(size))
        let text = String(repeating: "0123456789abcdef", count: 3_000)
        pair.near.send("early")
        pair.near.send(text)
        pair.loop.run()
        pair.far.send("answer")
        pair.loop.run()
        #expect(pair.farReceiver.text == "early\n\(text)\n")
        #expect(pair.nearReceiver.text == "answer\n")
        #expect(pair.nearEnds.all == ["finished(wasResumed: false)"])
        #expect(pair.farEnds.all == ["finished(wasResumed: false)"])
        pair.near.close()
        pair.loop.run()
        #expect(pair.farReceiver.record.ends == [.remote])
        #expect(pair.nearReceiver.record.ends == [.local])
    }

    @Test func `the bytes on the way are not those that were written`() {
        let pair = Pair()
        pair.near.send("a secret")
        pair.loop.run()
        let before = pair.nearInside.delivered
        pair.near.send("a secret")
        pair.loop.run()
        // A header of 5 bytes, the text with its kind, and a seal of 16 bytes.
        #expect(pair.nearInside.delivered - before == 5 + 9 + 1 + 16)
    }

    @Test func `a close within the handshake waits until what is queued has been sealed`() {
        let pair = Pair()
        pair.near.append("last words")
        pair.near.close()
        #expect(pair.near.append("too late") == 11)
        pair.loop.run()
        #expect(pair.farReceiver.text == "last words\n")
        #expect(pair.farReceiver.record.ends == [.remote])
        #expect(pair.nearReceiver.record.sent == 11)
    }

    @Test func `a second connection goes on with the session of the first`() {
        let resumption = TLSResumption()
        for number in 0..<3 {
            let pair = Pair(resumption: resumption)
            pair.near.send("x")
            pair.loop.run()
            pair.far.send("y")
            pair.loop.run()
            pair.near.close()
            pair.loop.run()
            #expect(pair.farEnds.all == ["finished(wasResumed: \(number > 0))"])
            #expect(pair.nearEnds.all == ["finished(wasResumed: \(number > 0))"])
        }
    }

    @Test func `a session that the other end takes no more does not stand in the way of the next handshake`() {
        let resumption = TLSResumption()
        func greet(_ pair: Pair) {
            pair.near.send("x")
            pair.loop.run()
            pair.far.send("y")
            pair.loop.run()
        }
        greet(Pair(resumption: resumption))
        let refused = Pair(resumption: resumption)
        refused.loop.run()
        #expect(refused.farEnds.all == ["finished(wasResumed: true)"])
        // As when the certificate of the session has expired: the handshake is right, and then the connection is closed.
        refused.farInside.close()
        refused.loop.run()
        let next = Pair(resumption: resumption)
        greet(next)
        #expect(next.farEnds.all == ["finished(wasResumed: false)"])
        #expect(next.nearReceiver.text == "y\n")
    }

    @Test func `a certificate for another name is not trusted, and nothing is sent to its owner`() {
        let pair = Pair(host: "example.org")
        pair.near.send("a secret")
        pair.loop.run()
        #expect(
            pair.nearEnds.all == [
                "failed(\"the certificate of the peer is not trusted: hostname mismatch\", isLasting: true)"
            ])
        #expect(pair.farReceiver.text == "")
        #expect(pair.nearReceiver.record.sent == 0)
        #expect(pair.farEnds.all.first?.contains("certificate") == true)
    }

    @Test(arguments: [40, 400, 1_500])
    func `a connection that is cut ends both, and says how much can have arrived`(offset: UInt64) {
        var faults = WireFaults()
        faults.breaksAt = (offset, .close)
        let pair = Pair(faults)
        for _ in 0..<20 {
            pair.near.send(String(repeating: "x", count: 99))
            pair.loop.run()
        }
        #expect(pair.nearReceiver.record.ends.count == 1 && pair.farReceiver.record.ends.count == 1)
        let (sent, arrived) = (pair.nearReceiver.record.sent ?? 0, UInt64(pair.farReceiver.record.bytes.count))
        #expect(arrived <= sent && sent <= 2_000)
        #expect(arrived % 100 == 0)
    }

    @Test func `a byte that has changed on the way ends the connection before it is read`() async throws {
        let loop = ManualLoop()
        let (nearInside, farInside) = MemoryChannel.pair(on: loop)
        let flipped = FlippedByte(farInside, at: 4_000)
        let server = TLSParts.wrap(flipped, dials: false)
        let client = TLSParts.wrap(nearInside, dials: true)
        let (nearReceiver, farReceiver) = (RecordingReceiver(on: loop), RecordingReceiver(on: loop))
        client.open(nearReceiver)
        server.open(farReceiver)
        client.send(String(repeating: "x", count: 9_999))
        loop.run()
        #expect(farReceiver.text == "")
        #expect(farReceiver.record.ends.count == 1 && nearReceiver.record.ends.count == 1)
        #expect("\(farReceiver.record.ends)".contains("bad record mac"), "\(farReceiver.record.ends)")
    }

    @Test func `what is answered on a connection that has failed is not sealed again and again`() throws {
        let loop = ManualLoop()
        let (nearInside, farInside) = MemoryChannel.pair(on: loop)
        let (near, far) = (TLSParts.wrap(nearInside, dials: true), TLSParts.wrap(farInside, dials: false))
        near.open(RecordingReceiver(on: loop))
        let receiver = RecordingReceiver(on: loop) { _ in for _ in 0..<100 { far.send("answer") } }
        far.open(receiver)
        loop.run()
        loop.submit {
            near.append("question")
            near.flush(.now)
            // In one piece with a record that cannot be opened.
            nearInside.write { queue, _ in for _ in 0..<100 { queue.append(0x17) } }
            nearInside.flush(.now)
        }
        loop.run()
        #expect(receiver.text == "question\n")
        #expect(receiver.record.ends.count == 1 && "\(receiver.record.ends)".contains("TLS: "))
    }

    @Test func `a peer without TLS may have got what was sent before an abort`() throws {
        let loop = ManualLoop()
        let (near, far) = MemoryChannel.pair(on: loop)
        let server = try #require(TLSParts.accept(far, admitsPlaintext: true))
        let (nearReceiver, farReceiver) = (RecordingReceiver(on: loop), RecordingReceiver(on: loop))
        near.open(nearReceiver)
        server.open(farReceiver)
        near.send("plain")
        loop.run()
        server.send("answer")
        loop.run()
        server.abort()
        loop.run()
        #expect(nearReceiver.text == "answer\n" && farReceiver.record.sent == 7)
    }

    @Test func `a handshake that takes too long is ended, and the next is not`() throws {
        let loop = ManualLoop()
        let (near, far) = MemoryChannel.pair(on: loop)
        let ends = Diary<String>()
        let server = try #require(TLSParts.accept(far, patience: .seconds(5)) { ends.note("\($0)") })
        let (nearReceiver, farReceiver) = (RecordingReceiver(on: loop), RecordingReceiver(on: loop))
        near.open(nearReceiver)
        server.open(farReceiver)
        // The beginning of a record, and no more.
        near.write { queue, _ in queue.append(0x16) }
        near.flush(.now)
        loop.advance(by: .seconds(4))
        #expect(ends.all == [] && farReceiver.record.ends == [])
        loop.advance(by: .seconds(2))
        #expect(ends.all == ["late"])
        #expect(farReceiver.record.ends == [.failed("TLS: the handshake took more than 5.0 seconds")])
        #expect(nearReceiver.record.ends == [.remote])
    }

    @Test func `a handshake that is over has no time limit any more`() {
        let pair = Pair()
        pair.loop.run()
        pair.loop.advance(by: .seconds(600))
        #expect(pair.farReceiver.record.ends == [])
        pair.near.send("still here")
        pair.loop.run()
        #expect(pair.farReceiver.text == "still here\n")
    }

    @Test(arguments: [
        ("{\"jsonrpc\":\"2.0\"}\n", "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":"),
        ("\0\0\0\u{2}{}", "\0\0\0"), ("Content-Length: 2\r\n\r\n{}", "Content-Length: "),
        ("GET / HTTP/1.1\r\n", "HTTP/1.1 400"),
        ("\u{9}", "{\"jsonrpc\""),
    ])
    func `a peer without TLS is told so in its own framing`(sent: String, beginning: String) {
        let loop = ManualLoop()
        let (near, far) = MemoryChannel.pair(on: loop)
        let ends = Diary<String>()
        let server = TLSParts.wrap(far, dials: false) { ends.note("\($0)") }
        let (nearReceiver, farReceiver) = (RecordingReceiver(on: loop), RecordingReceiver(on: loop))
        near.open(nearReceiver)
        server.open(farReceiver)
        near.write { queue, _ in Array(sent.utf8).withUnsafeBytes { queue.append($0) } }
        near.flush(.now)
        loop.run()
        #expect(nearReceiver.text.hasPrefix(beginning))
        #expect(nearReceiver.text.contains("this port takes only TLS") || beginning.hasPrefix("HTTP"))
        #expect(nearReceiver.record.ends == [.remote])
        #expect(farReceiver.text == "" && farReceiver.record.ends.count == 1)
        #expect(ends.all == ["failed(\"the peer does not speak TLS\", isLasting: true)"])
    }

    @Test func `a peer without TLS is served where that is allowed`() throws {
        let loop = ManualLoop()
        let (near, far) = MemoryChannel.pair(on: loop)
        let ends = Diary<String>()
        let server = try #require(TLSParts.accept(far, admitsPlaintext: true) { ends.note("\($0)") })
        let (nearReceiver, farReceiver) = (RecordingReceiver(on: loop), RecordingReceiver(on: loop))
        near.open(nearReceiver)
        server.open(farReceiver)
        server.send("before it is known")
        near.send("plain")
        loop.run()
        #expect(server.append("answer") == 19)
        server.flush()
        loop.run()
        #expect(farReceiver.text == "plain\n")
        #expect(nearReceiver.text == "before it is known\nanswer\n")
        loop.advance(by: .seconds(600))
        #expect(farReceiver.record.ends == [])
        near.close()
        loop.run()
        #expect(farReceiver.record.ends == [.remote] && ends.all == [], "there was no handshake that could fail")
    }

    @Test(arguments: [false, true])
    func `a connection that ends before its first byte is no failed handshake`(byPeer: Bool) throws {
        let loop = ManualLoop()
        let (near, far) = MemoryChannel.pair(on: loop)
        let ends = Diary<String>()
        let server = try #require(TLSParts.accept(far) { ends.note("\($0)") })
        let receiver = RecordingReceiver(on: loop)
        near.open(RecordingReceiver(on: loop))
        server.open(receiver)
        if byPeer { near.close() } else { server.close() }
        loop.run()
        #expect(receiver.record.ends == [byPeer ? .remote : .local] && ends.all == [])
    }

    @Test func `the steps of handshakes take turns with other work`() {
        let loop = ManualLoop()
        let line = HandshakeLine(of: loop)
        let order = Diary<String>()
        loop.submit {
            for number in 1...3 { line.join { order.note("step \(number)") } }
            loop.submit { order.note("other") }
        }
        loop.run()
        #expect(order.all == ["step 1", "other", "step 2", "step 3"])
    }

    @Test func `of records that have not left whole nothing counts as sent`() {
        var records = SealedRecords()
        #expect(records.written(whenSent: 1_000) == 0)
        records.add([(30, 10), (60, 20)], after: 100, unsent: 0)
        records.add([(30, 30)], after: 160, unsent: 60)
        #expect(records.written(whenSent: 129) == 0 && records.written(whenSent: 130) == 10)
        #expect(records.written(whenSent: 189) == 20 && records.written(whenSent: 500) == 30)
        // Those that have left are forgotten, save the last.
        records.add([(30, 40)], after: 190, unsent: 0)
        #expect(records.written(whenSent: 200) == 30 && records.written(whenSent: 220) == 40)
        for number in UInt64(0)..<10_000 { records.add([(30, 41 + number)], after: 220 + 30 * number, unsent: 30) }
        #expect(records.count < 200)
    }

    @Test(arguments: ["sha256:", "sha256:zz", "sha1:\(String(repeating: "0", count: 64))", ""])
    func `a text that is no pin is none`(text: String) { #expect(KeyPin(text) == nil) }

    @Test func `a pin is what it says`() {
        let text = "sha256:" + String(repeating: "0aF9", count: 16)
        #expect(KeyPin(text)?.description == text.lowercased())
    }

    @Test func `a certificate that is there already is used again, with a key for its owner alone`() throws {
        let folder = TemporaryFolder()
        let first = try TLSContext(OwnCertificate.files(in: folder.path), clients: nil)
        let again = try TLSContext(OwnCertificate.files(in: folder.path), clients: nil)
        #expect(first.ownPin == again.ownPin && first.ownPin != TLSParts.shared?.server.ownPin)
        #expect((3_649...3_650).contains(first.daysLeft))
        chmod("\(folder.path)/key.pem", 0o644)
        let error = #expect(throws: SetupError.self) {
            try TLSContext(OwnCertificate.files(in: folder.path), clients: nil)
        }
        #expect(error?.description.contains("can be read by others (mode 644)") == true)
    }
}

/// A channel that changes one byte of what arrives.
private final class FlippedByte: ByteChannel, ByteReceiver {
    private let inside: MemoryChannel
    private let offset: Int
    private let state = Lock<(receiver: (any ByteReceiver)?, count: Int)>((nil, 0))

    init(_ inside: MemoryChannel, at offset: Int) { (self.inside, self.offset) = (inside, offset) }

    var loop: any Loop { inside.loop }
    var remoteAddress: String { inside.remoteAddress }
    func open(_ receiver: any ByteReceiver) {
        state.withLock { $0.receiver = receiver }
        inside.open(self)
    }
    func write(_ fill: (inout SendBuffer, UInt64) -> Void) -> UInt64 { inside.write(fill) }
    func flush(_ hint: FlushHint) { inside.flush(hint) }
    func resumeReading() { inside.resumeReading() }
    func close() { inside.close() }
    func abort() { inside.abort() }
    func moved(to loop: any Loop) -> (any ByteChannel)? { nil }

    func received(_ bytes: Bytes) {
        var copy = bytes.withUnsafeBytes { Array($0) }
        let (receiver, start) = state.withLock { state in
            defer { state.count += copy.count }
            return (state.receiver, state.count)
        }
        if copy.indices.contains(offset - start) { copy[offset - start] ^= 1 }
        receiver?.received(copy.withUnsafeBytes { Bytes(copying: $0) })
    }
    func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) { state.withLock { $0.receiver }?.ended(end, sentUpTo: sent) }
}
