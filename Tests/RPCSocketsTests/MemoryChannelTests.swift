import RPCSockets
import RPCWire
import TestSupport
import Testing

@Suite(.waitsForOthers) struct MemoryChannelTests {
    private let loop = ManualLoop()
    private let left: MemoryChannel
    private let right: MemoryChannel
    private let leftReceiver: RecordingReceiver
    private let rightReceiver: RecordingReceiver

    init() {
        (left, right) = MemoryChannel.pair(on: loop)
        leftReceiver = RecordingReceiver(on: loop)
        rightReceiver = RecordingReceiver(on: loop)
        left.open(leftReceiver)
        right.open(rightReceiver)
    }

    @Test func `what is appended arrives when it is flushed, in order`() {
        left.append("one")
        #expect(left.append("two") == 4)
        loop.run()
        #expect(rightReceiver.text == "")
        left.flush()
        left.send("three")
        loop.run()
        #expect(rightReceiver.text == "one\ntwo\nthree\n")
        right.send("four")
        loop.run()
        #expect(leftReceiver.text == "four\n")
        #expect(rightReceiver.record.callsOffLoop == 0)
    }

    @Test func `on the loop, what one turn flushes arrives together`() {
        let pieces = Diary<Int>()
        let (near, far) = MemoryChannel.pair(on: loop)
        far.open(RecordingReceiver(on: loop) { pieces.note($0.count) })
        loop.submit { for _ in 0..<10 { near.send("x") } }
        loop.run()
        #expect(pieces.all == [20])
    }

    @Test func `bytes wait until the other end opens`() {
        let (near, far) = MemoryChannel.pair(on: loop)
        near.send("early")
        near.close()
        loop.run()
        let receiver = RecordingReceiver(on: loop)
        far.open(receiver)
        loop.run()
        #expect(receiver.text == "early\n")
        #expect(receiver.record.ends == [.remote])
    }

    @Test func `finish delivers all that is queued and then the end`() {
        left.append("last")
        left.close()
        #expect(left.append("too late") == 5)
        loop.run()
        #expect(rightReceiver.text == "last\n")
        #expect(rightReceiver.record.ends == [.remote])
        #expect(leftReceiver.record.ends == [.local])
        #expect(leftReceiver.record.sent == 5)
    }

    @Test func `abort drops what is queued but not what is on the way`() {
        left.send("sent")
        left.append("queued")
        left.abort()
        left.abort()
        loop.run()
        #expect(rightReceiver.text == "sent\n")
        #expect(rightReceiver.record.ends == [.remote])
        #expect(leftReceiver.record.ends == [.local])
        #expect(leftReceiver.record.sent == 5)
    }

    @Test func `bytes can arrive one by one`() {
        let pieces = Diary<Int>()
        let (near, far) = MemoryChannel.pair(on: loop)
        far.open(RecordingReceiver(on: loop) { pieces.note($0.count) })
        near.faults.pieceSize = 1
        near.send("abc")
        loop.run()
        #expect(pieces.all == [1, 1, 1, 1])
    }

    @Test(arguments: [WireFaults.Breakage.reset, .close, .silence])
    func `the wire can break at any byte`(how: WireFaults.Breakage) {
        for offset in 0...5 {
            let (near, far) = MemoryChannel.pair(on: loop)
            let (nearReceiver, farReceiver) = (RecordingReceiver(on: loop), RecordingReceiver(on: loop))
            near.open(nearReceiver)
            far.open(farReceiver)
            near.faults.breaksAt = (UInt64(offset), how)
            near.send("1234")
            loop.run()
            #expect(farReceiver.text == String("1234\n".prefix(offset)))
            #expect(near.delivered == UInt64(offset))
            switch how {
            case .reset:
                #expect(nearReceiver.record.ends == [.failed("the wire was cut")])
                #expect(farReceiver.record.ends == [.failed("the wire was cut")])
            case .close:
                #expect(nearReceiver.record.ends == [.remote])
                #expect(farReceiver.record.ends == [.remote])
            case .silence:
                far.send("answer")
                loop.run()
                #expect(nearReceiver.record.ends.isEmpty && nearReceiver.text.isEmpty)
                #expect(farReceiver.record.ends.isEmpty)
            }
        }
    }

    @Test func `a stalled wire holds bytes back until it is released`() {
        left.faults.isHeld = true
        left.send("later")
        loop.run()
        #expect(rightReceiver.text == "")
        left.faults.isHeld = false
        loop.run()
        #expect(rightReceiver.text == "later\n")
    }

    @Test func `what does not fit on the wire does not count as sent`() {
        left.faults.capacity = 3
        left.faults.isHeld = true
        left.send("12345")
        loop.run()
        left.cut()
        loop.run()
        #expect(leftReceiver.record.sent == 3)
        #expect(rightReceiver.text == "")
    }

    @Test func `a narrow wire carries everything in the end`() {
        left.faults.capacity = 2
        left.send("a long message")
        left.close()
        loop.run()
        #expect(rightReceiver.text == "a long message\n")
        #expect(leftReceiver.record.sent == 15)
    }

    @Test func `an end that finishes over a dead wire is told after a second`() {
        left.cut(.silence)
        left.close()
        loop.run()
        #expect(leftReceiver.record.ends.isEmpty)
        loop.advance(by: .seconds(1))
        #expect(leftReceiver.record.ends == [.local])
    }

    @Test func `it works over real loops as well`() async throws {
        try await withLoop { first in
            try await withLoop { second in
                let (near, far) = MemoryChannel.pair(on: first, and: second)
                let receiver = RecordingReceiver(on: first)
                near.open(receiver)
                far.open(LineEcho(far))
                near.send("across")
                try await receiver.wait { !$0.bytes.isEmpty }
                #expect(receiver.text == "across\n")
                near.close()
                #expect(try await receiver.waitForEnd() == .local)
            }
        }
    }
}
