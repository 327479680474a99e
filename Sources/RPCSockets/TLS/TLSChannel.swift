// A channel of bytes that are sealed with TLS on their way. It wraps another channel, which carries the sealed bytes. At a server
// the first byte of a connection tells whether the peer speaks TLS at all. This file has what any thread may call.

package import RPCWire
import Synchronization

/// Seals what is written, and opens what arrives.
///
/// Any thread may write and flush. One lock keeps it from using the connection of TLS at the same time as the loop. No receiver is
/// called under that lock.
package final class TLSChannel: ByteChannel, TurnEndWork {
    /// How a handshake has ended.
    package enum Handshake: Sendable {
        /// - Parameter wasResumed: whether it went on with an earlier session.
        case finished(wasResumed: Bool)
        /// - Parameter isLasting: whether the next handshake would fail in the same way.
        case failed(String, isLasting: Bool)
        /// It has taken too long.
        case late
        /// There was no room for it, so it was not begun.
        case crowdedOut
    }

    /// What a server needs for a connection that it accepts, until the handshake has ended.
    package final class Acceptance: Sendable {
        let context: TLSContext
        /// Whether a peer that does not speak TLS is served.
        let admitsPlaintext: Bool
        /// Where the steps of the handshakes wait for their turn.
        let line: HandshakeLine
        /// How long a handshake may take.
        let patience: Duration
        /// Called when a handshake begins. With false there is no room for it.
        let begins: @Sendable () -> Bool

        package init(
            _ context: TLSContext, admitsPlaintext: Bool, line: HandshakeLine, patience: Duration,
            begins: @escaping @Sendable () -> Bool = { true }
        ) {
            (self.context, self.admitsPlaintext, self.line, self.patience) = (context, admitsPlaintext, line, patience)
            self.begins = begins
        }
    }

    struct State: ~Copyable {
        enum Phase {
            /// No byte has come that would tell whether the peer speaks TLS.
            case undecided
            case shakingHands
            case open
            /// The peer does not speak TLS.
            case plain
            /// Nothing is sealed or opened any more.
            case over
        }

        var phase: Phase
        var connection: TLSConnection?
        /// Nil at the end that has dialled, and once it is decided what the peer speaks and who it is.
        var acceptance: Acceptance?
        /// Whether this channel receives from the one inside.
        var isInsideOpen = false
        var receiver: (any ByteReceiver)?
        /// Called once, when the handshake has ended.
        var whenShaken: (@Sendable (Handshake) -> Void)?
        var deadline: (any LoopTimer)?
        /// Whether the peer does not speak TLS, also when all is over.
        var isPlain = false
        /// Whether queued bytes wait until more has come from the peer.
        var isStuck = false
        /// Sealed bytes that wait for the handshake's turn.
        var input = Queue<Bytes>()
        /// Opened bytes that the receiver has not been given.
        var opened = Queue<Bytes>()
        var batch = WriteBatch()
        /// Written and not sealed.
        var queue = SendBuffer()
        /// Of all that was written here, where the queue ends.
        var written: UInt64 = 0
        var records = SealedRecords()
        /// Whether nothing more is written, and the channel ends when what is queued has been sealed.
        var isClosing = false
        /// Why the channel ends, if this is known better here than inside.
        var reason: ChannelEnd?
        /// How the channel has ended, until the receiver is told.
        var outcome: (end: ChannelEnd, sent: UInt64)?
        var proof: PeerProof?
        /// Whether the session is kept for the next connection.
        var isKept = false
        /// Whether the receiver was told that the peer sends no more.
        var hasToldEnd = false
        /// Whether the receiver still had something to send then.
        var goesOn = false
    }

    package let remoteAddress: String
    let inside: any ByteChannel
    /// Where the end that has dialled keeps its session for the next connection.
    let resumption: TLSResumption?
    let state: Lock<State>

    /// Whether more bytes wait to be sealed than `crowd`. Changed under the lock, and read without it.
    private let isFull = Atomic(false)

    /// How many bytes are sealed before they are sent.
    private static let portion = 128 << 10
    /// With more bytes that wait to be sealed the channel is crowded, until half of this is left.
    private static let crowd = 1 << 20

    /// The channel of an accepted connection.
    /// - Parameter whenShaken: called at most once, on the loop: when the handshake has ended, or a peer without TLS is refused.
    package init(
        accepting inside: any ByteChannel, _ acceptance: Acceptance,
        whenShaken: @escaping @Sendable (Handshake) -> Void
    ) {
        (self.inside, remoteAddress) = (inside, inside.remoteAddress)
        resumption = nil
        state = Lock(State(phase: .undecided, acceptance: acceptance, whenShaken: whenShaken))
    }

    /// The channel of a connection that this end has made. Begins the handshake. It is to be opened when that has succeeded.
    /// - Parameters:
    ///   - remoteAddress: what the server is called in errors.
    ///   - host: the name or address that the server's certificate must have.
    ///   - whenShaken: called once on the loop, and never before returning.
    package init(
        over inside: any ByteChannel, remoteAddress: String, to host: String, isAddress: Bool, _ context: TLSContext,
        _ resumption: TLSResumption, whenShaken: @escaping @Sendable (Handshake) -> Void
    ) throws(SetupError) {
        (self.inside, self.remoteAddress) = (inside, remoteAddress)
        self.resumption = resumption
        let connection = try TLSConnection(
            to: host, isAddress: isAddress, context, goingOnWith: resumption.take())
        state = Lock(
            State(phase: .shakingHands, connection: connection, isInsideOpen: true, whenShaken: whenShaken))
        inside.open(self)
        loop.submit { [self] in take(.empty) }
    }

    /// Goes on where another channel was moved to this loop.
    private init(over inside: any ByteChannel, _ state: consuming sending State) {
        (self.inside, remoteAddress) = (inside, inside.remoteAddress)
        resumption = nil
        self.state = Lock(state)
    }

    package var loop: any Loop { inside.loop }
    package var isReading: Bool { inside.isReading }
    package var isCrowded: Bool { isFull.load(ordering: .relaxed) || inside.isCrowded }
    package var waiting: Int { state.withLock { $0.queue.count } + inside.waiting }

    package var peer: PeerProof? {
        let (phase, proof) = state.withLock { ($0.phase, $0.proof) }
        return phase == .plain ? inside.peer : proof
    }

    package func open(_ receiver: any ByteReceiver) {
        let (isFirst, acceptance) = state.withLock { state in
            defer { state.isInsideOpen = true }
            state.receiver = receiver
            return (!state.isInsideOpen, state.phase == .undecided ? state.acceptance : nil)
        }
        // Where plaintext is served, a silent peer may be one without TLS.
        if let acceptance, !acceptance.admitsPlaintext { start(acceptance.patience) }
        // What has come before: at the end that has dialled, and when the channel was moved.
        loop.submit { [self] in
            deliver()
            report()
        }
        if isFirst { inside.open(self) }
    }

    @discardableResult
    package func write(_ fill: (inout SendBuffer, UInt64) -> Void) -> UInt64 {
        state.withLock { state in
            // The offsets inside are the same as here.
            if state.isPlain { return inside.write(fill) }
            switch state.phase {
            case .over, .plain: return state.written
            case _ where state.isClosing: return state.written
            case .undecided, .shakingHands, .open:
                let (offset, before) = (state.written, state.queue.count)
                fill(&state.queue, offset)
                state.written += UInt64(state.queue.count - before)
                if state.queue.count > Self.crowd { isFull.store(true, ordering: .relaxed) }
                return offset
            }
        }
    }

    package func flush(_ hint: FlushHint) {
        let isLoop = loop.isCurrent
        if case .now = hint { return seal() }
        guard isLoop else { return seal() }
        let (isFirst, isFull) = state.withLock { ($0.batch.begin(), $0.batch.add()) }
        if isFirst { loop.atEndOfTurn(self, hint) }
        if isFull { seal() }
    }

    package func turnEnds() {
        state.withLock { $0.batch.end() }
        seal()
    }

    /// Seals what is queued, and sends it. While the channel inside is crowded, the rest waits.
    func seal() {
        var isMore = true
        while isMore {
            let isSealed: Bool
            (isSealed, isMore) = state.withLock { state in
                switch state.phase {
                case .plain: return (true, false)
                case .undecided, .shakingHands, .over: return (false, false)
                case .open:
                    if state.queue.isEmpty || inside.isCrowded { return (false, false) }
                    let goesOn = sealPortion(Self.portion, &state)
                    return (true, goesOn && !state.queue.isEmpty)
                }
            }
            if isSealed { inside.flush(.now) }
        }
        guard isFull.load(ordering: .relaxed), state.withLock({ $0.queue.count <= Self.crowd / 2 }) else { return }
        isFull.store(false, ordering: .relaxed)
        // In a later turn of the loop: the thread that seals may be in the middle of the receiver's code.
        loop.submit { [self] in state.withLock { $0.receiver }?.outputChanged() }
    }

    package func releaseRoom() {
        state.withLock { if $0.queue.isEmpty { $0.queue.letGo() } }
        inside.releaseRoom()
    }

    /// Seals queued bytes, and puts them into the queue of the channel inside.
    /// - Returns: whether more can be sealed now.
    @discardableResult
    private func sealPortion(_ most: Int, _ state: inout State) -> Bool {
        guard let connection = state.connection else { return false }
        let (written, unsent) = (state.written, inside.waiting)
        var ends: [(sealed: Int, written: UInt64)] = []
        let before = state.queue.count
        let sealed = connection.seal(most, of: &state.queue) { ends.append(($0, written - UInt64($1))) }
        state.isStuck = before - state.queue.count < min(before, most)
        // Later and on the loop, where a connection ends. One that has failed while it reads may have ended by then.
        if case .failed(let why, let isLasting) = connection.phase {
            loop.submit { [self] in fail(why, isLasting: isLasting) }
        }
        state.records.add(ends, after: put(sealed), unsent: unsent)
        if state.queue.isEmpty { state.queue.removeAll() }
        return !state.isStuck
    }

    /// Sends what TLS itself has to say, such as its part of the handshake. Called under the lock.
    func sendOutput(of connection: TLSConnection) {
        put(Bytes(copying: connection.output))
        connection.removeOutput()
    }

    /// What has more bytes than this is not copied into the queue of the channel inside, because a queue that has grown stays so
    /// large for some time.
    private static let mostCopied = 256

    @discardableResult
    private func put(_ sealed: Bytes) -> UInt64 {
        inside.write { queue, _ in
            if sealed.count > Self.mostCopied { queue.append(shared: sealed) } else { queue.append(sealed.memory) }
        }
    }

    package func resumeReading() { inside.resumeReading() }

    package func close() {
        let isOver = state.withLock { state in
            state.isClosing = true
            switch state.phase {
            case .plain, .over: return true
            case .undecided: break
            // What is queued waits for the end of the handshake.
            case .shakingHands: if !state.queue.isEmpty { return false }
            case .open:
                guard let connection = state.connection else { break }
                if !state.queue.isEmpty { sealPortion(.max, &state) }
                connection.sealEnd()
                sendOutput(of: connection)
            }
            state.phase = .over
            return true
        }
        if isOver { inside.close() }
    }

    package func abort() {
        state.withLock { state in
            state.phase = .over
            state.queue.letGo()
        }
        inside.abort()
    }

    package func moved(to loop: any Loop) -> (any ByteChannel)? {
        if state.withLock({ $0.phase == .plain }) { return inside.moved(to: loop) }
        seal()
        guard state.withLock({ $0.phase == .open && $0.queue.isEmpty && $0.connection?.isUsable == true }),
            let moved = inside.moved(to: loop)
        else { return nil }
        let next = state.withLock { state in
            var next = State(phase: .open, connection: state.connection.take(), proof: state.proof)
            swap(&next.opened, &state.opened)
            (state.phase, state.receiver) = (.over, nil)
            return next
        }
        return TLSChannel(over: moved, next)
    }
}

/// Which written bytes are in which record, until the record has left. Of a record that has not left whole the peer can read
/// nothing.
struct SealedRecords: Sendable {
    private var ends: [(sealed: UInt64, written: UInt64)] = []
    private var leastPruned = 64
    /// For tests.
    var count: Int { ends.count }

    /// - Parameters:
    ///   - records: where each record ends, among the sealed bytes that follow `start`, and among those that were written.
    ///   - unsent: how many sealed bytes had not left before `start`.
    mutating func add(_ records: [(sealed: Int, written: UInt64)], after start: UInt64, unsent: Int) {
        if unsent == 0 || ends.count >= leastPruned {
            // The last one that has left stays: it tells how far that is.
            let sent = start - UInt64(clamping: unsent)
            if let last = ends.lastIndex(where: { $0.sealed <= sent }), last > 0 { ends.removeFirst(last) }
            leastPruned = max(64, 2 * ends.count)
        }
        for record in records { ends.append((start + UInt64(record.sealed), record.written)) }
    }

    /// How many of the written bytes have left, when so many sealed bytes have.
    func written(whenSent sent: UInt64) -> UInt64 { ends.last { $0.sealed <= sent }?.written ?? 0 }
}
