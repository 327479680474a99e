// A connection that carries whole messages in memory: no stream, no frames, and no watch over the other end.

import RPCSockets
import RPCWire

@testable import RemoteProxy

/// One end of such a connection. What is queued leaves in the next turn of the one loop of both ends.
///
/// `@unchecked Sendable`: `state` is a lock; all else is touched on the loop.
final class MemoryMessages: MessageChannel, @unchecked Sendable {
    private struct State {
        var link: Link
        var queued: [Bytes] = []
        /// How many messages were ever queued, and how many have left.
        var count: UInt64 = 0
        var sent: UInt64 = 0
        var isClosing = false
        var hasEnded = false
    }

    private let state: Lock<State>
    private weak var other: MemoryMessages?
    private var come: [Bytes] = []
    private var isPaused = false
    private var whyOver: String?
    var login = Login(needsProof: false)
    let loop: any Loop
    let remoteAddress = "memory"

    private init(_ link: Link) {
        state = Lock(State(link: link))
        loop = link.loop
    }

    /// Two ends, for these links.
    static func pair(_ near: Link, _ far: Link) -> (MemoryMessages, MemoryMessages) {
        let (near, far) = (MemoryMessages(near), MemoryMessages(far))
        (near.other, far.other) = (far, near)
        return (near, far)
    }

    var link: Link {
        get { state.withLock { $0.link } }
        set { state.withLock { $0.link = newValue } }
    }

    var waiting: Int { 0 }
    var isCrowded: Bool { false }
    var isOver: Bool { whyOver != nil }
    func admits(_ act: PeerAct) -> Bool { true }
    func probe() -> Bool { false }
    func open() {}

    func append(_ message: OutgoingMessage) -> UInt64 {
        let bytes =
            switch message {
            case .copied(let bytes): Bytes(copying: bytes)
            case .shared(let bytes): bytes
            }
        return state.withLock { state in
            if state.hasEnded { return state.count }
            state.queued.append(bytes)
            state.count += 1
            return state.count - 1
        }
    }

    func flush(_ hint: FlushHint) { loop.submit { [self] in send() } }

    private func send() {
        let (messages, isClosing) = state.withLock { state in
            defer { (state.queued, state.sent) = ([], state.count) }
            return (state.queued, state.isClosing)
        }
        other?.come += messages
        other?.read()
        if isClosing { abort() }
    }

    private func read() {
        guard !isOver else { return come = [] }
        while !isOver, !come.isEmpty {
            guard link.wantsMore else {
                isPaused = true
                break
            }
            let message = come.removeFirst()
            link.received(MessageReader().read(message), size: message.count)
        }
        link.hasRead(all: come.isEmpty)
    }

    func readOn() {
        guard isPaused else { return }
        isPaused = false
        loop.submit { [self] in read() }
    }

    func stopReading(because why: String) -> Bool {
        if isOver { return false }
        whyOver = why
        return true
    }

    func close() {
        state.withLock { $0.isClosing = true }
        flush()
    }

    /// What is queued is lost, at both ends.
    func abort() {
        for end in [self, other] {
            end?.loop.submit { end?.end() }
        }
    }

    private func end() {
        let sent = state.withLock { state -> UInt64? in
            defer { state.hasEnded = true }
            return state.hasEnded ? nil : state.sent
        }
        guard let sent else { return }
        let why = whyOver ?? "closed by \(remoteAddress)"
        _ = stopReading(because: why)
        link.ended(self, sentUpTo: sent, because: why, isSilent: false)
    }

    /// The same connection for another link. It has read no more than the hello.
    func moved(to link: Link) -> (any MessageChannel)? {
        let successor = MemoryMessages(link)
        let former = state.withLock { state in
            defer { (state.hasEnded, state.queued) = (true, []) }
            return state
        }
        successor.state.withLock { ($0.queued, $0.count, $0.sent) = (former.queued, former.count, former.sent) }
        (successor.other, successor.come) = (other, come)
        other?.other = successor
        (whyOver, come) = ("moved", [])
        return successor
    }
}
