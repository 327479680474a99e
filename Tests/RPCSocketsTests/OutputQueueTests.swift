import RPCWire
import Testing

@testable import RPCSockets

/// The outgoing half with its writer's buffer, in a form that expectations can hold.
private final class Half {
    private var outgoing = OutputQueue()
    private var sending = SendBuffer()

    var phase: OutputQueue.Phase { outgoing.phase }
    var writer: OutputQueue.Writer { outgoing.writer }
    var waiting: Int { outgoing.waiting }
    var sent: UInt64 { outgoing.sent }
    var isUnused: Bool { outgoing.isUnused }
    var inFlight: Int { sending.count }

    func append(_ text: String) -> UInt64 {
        let line = Bytes(text + "\n")
        return outgoing.write { queue, _ in queue.append(line.memory) }
    }

    func begin() -> Bool { outgoing.beginWriting() }
    func resume() -> Bool { outgoing.resumeWriting() }
    func block() -> Bool { outgoing.block() }
    func next() -> OutputQueue.Next { outgoing.next(&sending) }
    func finish(_ end: ChannelEnd) -> Bool { outgoing.finish(end) }
    func end(_ end: ChannelEnd) -> Bool { outgoing.end(end) }

    /// The system takes all that is being sent.
    func takeAll() {
        outgoing.didSend(sending.count)
        sending.removeAll()
    }
}

/// What the outgoing half answers in each of its states.
struct OutgoingTests {
    @Test func `with nothing queued there is nothing to write`() {
        let half = Half()
        #expect(!half.begin())
        #expect(half.writer == .free)
    }

    @Test func `one writer at a time, who takes along what others have queued`() {
        let half = Half()
        #expect(half.append("one") == 0)
        #expect(half.begin())
        #expect(!half.begin())
        #expect(half.next() == .send)
        #expect(half.inFlight == 4)
        #expect(half.append("two") == 4)
        half.takeAll()
        #expect(half.next() == .send)
        #expect(half.inFlight == 4)
        half.takeAll()
        #expect(half.next() == .rest)
        #expect(half.writer == .free)
        #expect(half.waiting == 0)
    }

    @Test func `while the socket is full only the loop goes on`() {
        let half = Half()
        _ = half.append("one")
        #expect(half.begin())
        #expect(half.next() == .send)
        #expect(half.block())
        #expect(!half.begin())
        #expect(half.resume())
        #expect(!half.resume())
        #expect(half.next() == .send)
    }

    @Test func `after finish nothing is queued, and the writer is told when all is sent`() {
        let half = Half()
        _ = half.append("one")
        #expect(half.finish(.local))
        #expect(!half.finish(.remote))
        #expect(half.append("two") == 4)
        #expect(half.begin())
        #expect(half.next() == .send)
        half.takeAll()
        #expect(half.next() == .finish)
    }

    @Test func `a stream that ends under its writer's hands is closed by the writer`() {
        let half = Half()
        _ = half.append("one")
        #expect(half.begin())
        #expect(half.next() == .send)
        #expect(half.end(.local))
        #expect(!half.isUnused)
        half.takeAll()
        #expect(half.next() == .close)
        #expect(half.isUnused)
        #expect(half.sent == 4)
    }

    @Test func `a stream that ends while its writer finds the socket full is closed by the writer as well`() {
        let half = Half()
        _ = half.append("one")
        #expect(half.begin())
        #expect(half.next() == .send)
        #expect(half.end(.local))
        #expect(!half.block())
        #expect(half.isUnused)
        #expect(!half.begin())
        #expect(!half.resume())
    }

    @Test func `the first end counts, and an announced one stays`() {
        let half = Half()
        #expect(half.end(.remote))
        #expect(!half.end(.local))
        #expect(half.phase == .ended(.remote))
        #expect(half.append("late") == 0)
        let finishing = Half()
        #expect(finishing.finish(.local))
        #expect(finishing.end(.failed("reset")))
        #expect(finishing.phase == .ended(.local))
    }
}
