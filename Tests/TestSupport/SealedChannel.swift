// A channel around another one, such as one with a cipher: it changes each byte, and puts a length in front of each piece. So a
// byte has other offsets inside than here. The receiver gets a piece when the whole piece has come.

import RPCSockets
package import RPCWire

package final class SealedChannel: ByteChannel, TurnEndWork {
    private static let key: UInt8 = 0x5A
    private static let lengthSize = 4

    private struct State: ~Copyable {
        var receiver: (any ByteReceiver)?
        var batch = WriteBatch()
        /// Written here and not yet sealed.
        var queue: [UInt8] = []
        var written: UInt64 = 0
        var hasEnded = false
        /// Where each sealed piece ends, among the bytes that the channel inside writes, and among those written here.
        var pieces: [(inside: UInt64, here: UInt64)] = []
        /// Received and not yet opened.
        var input: ArraySlice<UInt8> = []
    }

    private let inside: any ByteChannel
    private let state: Lock<State>

    package init(_ inside: any ByteChannel) {
        self.inside = inside
        state = Lock(State())
    }

    private init(_ inside: any ByteChannel, after input: ArraySlice<UInt8>) {
        self.inside = inside
        state = Lock(State(input: input))
    }

    package var loop: any Loop { inside.loop }
    package var remoteAddress: String { inside.remoteAddress }
    package var peer: PeerProof? { inside.peer }
    package var isReading: Bool { inside.isReading }
    package var waiting: Int { state.withLock { $0.queue.count } + inside.waiting }
    package var isCrowded: Bool { inside.isCrowded }

    package func open(_ receiver: any ByteReceiver) {
        let hasInput = state.withLock { state in
            state.receiver = receiver
            return !state.input.isEmpty
        }
        if hasInput { loop.submit { [self] in deliver() } }
        inside.open(self)
    }

    @discardableResult
    package func write(_ fill: (inout SendBuffer, UInt64) -> Void) -> UInt64 {
        state.withLock { state in
            let offset = state.written
            if state.hasEnded { return offset }
            var written = SendBuffer()
            fill(&written, offset)
            state.queue.append(contentsOf: written.bytes)
            state.queue.append(contentsOf: written.sharedBytes)
            state.written += UInt64(written.count)
            return offset
        }
    }

    package func flush(_ hint: FlushHint) {
        guard loop.isCurrent else { return seal() }
        if state.withLock({ $0.batch.begin() }) { loop.atEndOfTurn(self, hint) }
        if state.withLock({ $0.batch.add() }) { seal() }
    }

    package func turnEnds() {
        state.withLock { $0.batch.end() }
        seal()
    }

    /// Seals what is queued as one piece, and sends it.
    private func seal() {
        let isNew = state.withLock { state in
            guard !state.queue.isEmpty else { return false }
            var piece = withUnsafeBytes(of: UInt32(state.queue.count).bigEndian) { Array($0) }
            piece += state.queue
            for index in piece.indices { piece[index] ^= Self.key }
            state.queue.removeAll(keepingCapacity: true)
            // Under the lock, so that pieces leave in the order in which they were made.
            let start = piece.withUnsafeBytes { inside.write($0) }
            state.pieces.append((start + UInt64(piece.count), state.written))
            return true
        }
        if isNew { inside.flush(.now) }
    }

    package func resumeReading() { inside.resumeReading() }

    package func close() {
        seal()
        state.withLock { $0.hasEnded = true }
        inside.close()
    }

    package func abort() {
        state.withLock { state in
            state.hasEnded = true
            state.queue = []
        }
        inside.abort()
    }

    package func moved(to loop: any Loop) -> (any ByteChannel)? {
        seal()
        guard let moved = inside.moved(to: loop) else { return nil }
        return state.withLock { state in
            (state.receiver, state.hasEnded) = (nil, true)
            return SealedChannel(moved, after: exchange(&state.input, with: []))
        }
    }
}

extension SealedChannel: ByteReceiver {
    package var wantsMore: Bool { state.withLock { $0.receiver }?.wantsMore ?? true }

    package func received(_ bytes: Bytes) {
        state.withLock { state in bytes.withUnsafeBytes { state.input.append(contentsOf: $0) } }
        deliver()
    }

    /// Opens whole pieces, one after another: the receiver may move the channel between two of them.
    private func deliver() {
        while true {
            let next: (any ByteReceiver, Bytes)? = state.withLock { state in
                guard let receiver = state.receiver, let piece = Self.takePiece(from: &state.input) else { return nil }
                return (receiver, piece)
            }
            guard let (receiver, piece) = next else { return }
            receiver.received(piece)
        }
    }

    private static func takePiece(from input: inout ArraySlice<UInt8>) -> Bytes? {
        guard input.count >= lengthSize else { return nil }
        let count = input.prefix(lengthSize).reduce(0) { $0 << 8 | Int($1 ^ key) }
        guard input.count >= lengthSize + count else { return nil }
        let piece = input.dropFirst(lengthSize).prefix(count).map { $0 ^ key }
        input = input.dropFirst(lengthSize + count)
        return piece.withUnsafeBytes { Bytes(copying: $0) }
    }

    package func outputChanged() { state.withLock { $0.receiver }?.outputChanged() }
    package func pausedReading() { state.withLock { $0.receiver }?.pausedReading() }
    package func peerFinished() -> Bool {
        if state.withLock({ $0.receiver })?.peerFinished() == true { return true }
        // The channel inside ends now, when its queue has been sent.
        seal()
        return false
    }

    package func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) {
        let (receiver, here) = state.withLock { state in
            state.hasEnded = true
            defer { state.receiver = nil }
            // Of a piece that has not left whole the peer can read nothing.
            return (state.receiver, state.pieces.last { $0.inside <= sent }?.here ?? 0)
        }
        receiver?.ended(end, sentUpTo: here)
    }
}
