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

    @Test func `nothing is delivered to a receiver that wants no more, until it says so`() {
        rightReceiver.wantsMore = false
        left.send(String(repeating: "x", count: 300_000))
        loop.run()
        #expect(rightReceiver.text == "" && !loop.pretend { right.isReading })
        // As much as is on the way counts as sent, and no more.
        #expect(left.waiting == 300_001 - 262_144)
        #expect(leftReceiver.record.outputChanges > 0)
        let told = leftReceiver.record.outputChanges
        rightReceiver.wantsMore = true
        loop.run()
        #expect(rightReceiver.text == "")
        loop.pretend { right.resumeReading() }
        loop.run()
        #expect(rightReceiver.record.bytes.count == 300_001 && left.waiting == 0)
        #expect(leftReceiver.record.outputChanges > told)
    }

    @Test func `what was sent before the end is read by a receiver that wanted no more`() {
        rightReceiver.wantsMore = false
        left.send("last")
        loop.run()
        left.abort()
        loop.run()
        #expect(rightReceiver.text == "last\n" && rightReceiver.record.ends == [.remote])
    }

    @Test func `an end is crowded by what its peer does not take, until half of it is left`() {
        rightReceiver.wantsMore = false
        left.send(String(repeating: "x", count: 1_500_000))
        loop.run()
        #expect(left.isCrowded)
        rightReceiver.wantsMore = true
        loop.pretend { right.resumeReading() }
        loop.run()
        #expect(!left.isCrowded)
    }

    @Test func `a peer that takes nothing is given up, but not one that takes a little`() {
        var (one, two) = (MemoryEnd(on: loop), MemoryEnd(on: loop))
        (one.limits.patience, two.limits.patience) = (.seconds(5), .seconds(5))
        let (near, far) = MemoryChannel.pair(one, two)
        let (nearReceiver, farReceiver) = (RecordingReceiver(on: loop), RecordingReceiver(on: loop))
        near.open(nearReceiver)
        far.open(farReceiver)
        farReceiver.wantsMore = false
        near.send(String(repeating: "x", count: 1_000_000))
        loop.advance(by: .seconds(4))
        // One piece is taken.
        farReceiver.wantsMore = true
        loop.pretend { far.resumeReading() }
        while farReceiver.record.bytes.isEmpty { loop.step() }
        farReceiver.wantsMore = false
        loop.advance(by: .seconds(4))
        #expect(nearReceiver.record.ends.isEmpty)
        loop.advance(by: .seconds(6))
        guard case .overrun(.patience, let why)? = nearReceiver.record.ends.first else {
            Issue.record("\(nearReceiver.record.ends)")
            return
        }
        #expect(why.contains("for 5.0 seconds (patience)"))
        #expect(farReceiver.record.ends == [.remote])
        #expect(loop.timersLeft == 0)
    }

    @Test func `the end that pauses reads nothing while its peer does not read`() {
        var (one, two) = (MemoryEnd(on: loop), MemoryEnd(on: loop))
        two.pausesReading = true
        one.limits.pauseReading = 1_000
        two.limits.pauseReading = 1_000
        let (near, far) = MemoryChannel.pair(one, two)
        let (nearReceiver, farReceiver) = (RecordingReceiver(on: loop), RecordingReceiver(on: loop))
        near.open(nearReceiver)
        far.open(farReceiver)
        nearReceiver.wantsMore = false
        far.send(String(repeating: "x", count: 300_000))
        loop.run()
        for _ in 0..<3 {
            near.send("request")
            loop.run()
        }
        #expect(farReceiver.text == "" && farReceiver.record.pauses == 1)
        nearReceiver.wantsMore = true
        loop.pretend { near.resumeReading() }
        loop.run()
        #expect(farReceiver.text == "request\nrequest\nrequest\n" && nearReceiver.record.bytes.count == 300_001)
    }

    @Test func `an end that still writes when its peer has finished stays open until it closes`() {
        rightReceiver.hasMoreToSend = true
        left.send("last")
        left.close()
        loop.run()
        #expect(rightReceiver.text == "last\n" && rightReceiver.record.ends.isEmpty)
        right.send("thrown away")
        loop.run()
        #expect(leftReceiver.text == "" && rightReceiver.record.peerEnds == 1)
        right.close()
        loop.run()
        #expect(leftReceiver.record.ends == [.local] && rightReceiver.record.ends == [.local])
        #expect(rightReceiver.record.peerEnds == 1 && loop.timersLeft == 0)
    }

    @Test func `an end that has finished waits a second for a peer that still writes`() {
        rightReceiver.hasMoreToSend = true
        left.close()
        loop.run()
        #expect(leftReceiver.record.ends.isEmpty)
        loop.advance(by: .seconds(1))
        #expect(leftReceiver.record.ends == [.local] && rightReceiver.record.ends == [.remote])
    }

    @Test func `a channel that was moved writes and ends nothing any more, and its successor counts from 0`() throws {
        left.send("one")
        right.send("zero")
        loop.run()
        let other = ManualLoop()
        let moved = try #require(loop.pretend { right.moved(to: other) })
        #expect(right.write { _, _ in Issue.record("written") } == 0)
        right.abort()
        right.close()
        left.send("two")
        loop.run()
        #expect(rightReceiver.text == "one\n" && rightReceiver.record.ends.isEmpty)
        let receiver = RecordingReceiver(on: other)
        moved.open(receiver)
        other.run()
        #expect(receiver.text == "two\n" && receiver.record.callsOffLoop == 0)
        #expect(moved.append("three") == 0)
        moved.flush()
        loop.run()
        #expect(leftReceiver.text == "zero\nthree\n")
        left.abort()
        loop.run()
        other.run()
        #expect(receiver.record.ends == [.remote] && receiver.record.sent == 6 && rightReceiver.record.ends.isEmpty)
    }

    @Test func `a channel cannot be moved while bytes wait, or when its peer sends no more`() {
        leftReceiver.wantsMore = false
        right.send(String(repeating: "x", count: 300_000))
        loop.run()
        #expect(loop.pretend { right.moved(to: ManualLoop()) } == nil)
        rightReceiver.hasMoreToSend = true
        leftReceiver.wantsMore = true
        loop.pretend { left.resumeReading() }
        left.close()
        loop.run()
        #expect(loop.pretend { right.moved(to: ManualLoop()) } == nil)
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
