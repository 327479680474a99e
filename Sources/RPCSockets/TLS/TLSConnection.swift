// One connection of TLS as a machine: bytes in, bytes out. It knows neither sockets nor threads.

import CSystem
import RPCWire

/// What a later connection to the same server can begin with, so that it costs less.
///
/// `@unchecked Sendable`: OpenSSL changes it under its own lock.
final class TLSSession: @unchecked Sendable {
    fileprivate let pointer: OpaquePointer

    fileprivate init(_ pointer: OpaquePointer) { self.pointer = pointer }
    deinit { tls_free_session(pointer) }
}

/// Keeps the newest session of the connections to one server, for one handshake. A session that the server takes no more, because the
/// certificate with which it began has expired, must not stand in the way of the handshake after that.
package final class TLSResumption: Sendable {
    private let newest = Lock<TLSSession?>(nil)

    package init() {}

    func take() -> TLSSession? { newest.withLock { $0.take() } }
    func keep(_ session: TLSSession) { newest.withLock { $0 = session } }
}

/// Seals and opens the bytes of one connection.
///
/// `@unchecked Sendable`: it has one caller at a time, which holds the lock of its channel.
final class TLSConnection: @unchecked Sendable {
    enum Phase: Equatable {
        case shakingHands
        case open
        /// Nothing can be sealed or opened any more, for this reason.
        /// - Parameter isLasting: whether the next connection would fail in the same way.
        case failed(String, isLasting: Bool)
    }

    /// How many bytes a record has at most.
    static let largestRecord = 16_384
    /// The least room into which bytes are opened.
    private static let leastRoom = 512

    private let memory: UnsafeMutablePointer<tls_connection>
    private let pin: KeyPin?
    private(set) var phase = Phase.shakingHands
    /// Whether the peer has said that it sends no more.
    private(set) var hasPeerEnded = false

    /// The accepting end of a connection.
    init(accepting context: TLSContext) throws(SetupError) {
        (memory, pin) = (.allocate(capacity: 1), nil)
        guard tls_open(memory, context.pointer, 1, nil, 0, nil) != 0 else { throw SetupError("TLS is out of memory") }
    }

    /// The end that has dialled.
    /// - Parameter host: the name or address that the peer's certificate must have, unless its key has a pin.
    init(
        to host: String, isAddress: Bool, _ context: TLSContext, goingOnWith session: TLSSession?
    ) throws(SetupError) {
        (memory, pin) = (.allocate(capacity: 1), context.pin)
        // An address is no name to ask for.
        let isNamed = pin == nil || !isAddress
        let isOpen =
            isNamed
            ? tls_open(memory, context.pointer, 0, host, isAddress ? 1 : 0, session?.pointer)
            : tls_open(memory, context.pointer, 0, nil, 0, session?.pointer)
        guard isOpen != 0 else { throw SetupError("TLS cannot check the name \(host)") }
    }

    deinit {
        tls_close(memory)
        memory.deallocate()
    }

    // MARK: steps

    /// Takes sealed bytes, and hands over what is in them, in pieces. Empty bytes begin the handshake.
    func take(_ bytes: Bytes, _ opened: (Bytes) -> Void) {
        let text = bytes.memory
        memory.pointee.input = text.baseAddress?.assumingMemoryBound(to: UInt8.self)
        memory.pointee.input_count = text.count
        defer { (memory.pointee.input, memory.pointee.input_count) = (nil, 0) }
        withExtendedLifetime(bytes) {
            if phase == .shakingHands { shakeHands() }
            if phase == .open, !hasPeerEnded { open(atLeast: bytes.count, opened) }
        }
    }

    private func shakeHands() {
        var step = TLS_WAITS
        let fault = tlsFault { text in
            step = tls_shake_hands(memory, text)
            return step == TLS_FAILED || step == TLS_DISTRUSTS ? 0 : 1
        }
        if let fault { return fail(Self.explained(fault), wasDistrusted: step == TLS_DISTRUSTS) }
        if step == TLS_ENDED { return fail("the peer has ended the handshake") }
        guard step == TLS_DONE else { return }
        if pin == nil, tls_is_peer_outdated(memory) != 0 {
            fail("certificate has expired", wasDistrusted: true)
        } else if let pin, peerPin != pin {
            fail("its key has the pin \(peerPin.map { "\($0)" } ?? "of none"), not \(pin)", wasDistrusted: true)
        } else {
            phase = .open
        }
    }

    private func open(atLeast count: Int, _ opened: (Bytes) -> Void) {
        var chunk = ByteChunk(capacity: max(count, Self.leastRoom))
        var used = 0
        while true {
            var (step, count) = (TLS_WAITS, 0)
            let room = UnsafeMutableRawBufferPointer(rebasing: chunk.memory[used...])
            let fault = tlsFault { text in
                step = tls_read(memory, room.baseAddress, room.count, &count, text)
                return step == TLS_FAILED ? 0 : 1
            }
            if step == TLS_DONE { used += count }
            if used > 0, step != TLS_DONE || used == chunk.memory.count {
                opened(Bytes(chunk, 0..<used))
                if step == TLS_DONE { (chunk, used) = (ByteChunk(capacity: Self.largestRecord), 0) }
            }
            if let fault { fail(fault) }
            if step == TLS_ENDED { hasPeerEnded = true }
            if step != TLS_DONE { return }
        }
    }

    /// Seals bytes as one record.
    /// - Parameter bytes: at most `largestRecord`.
    /// - Returns: false if nothing was sealed: the connection has failed, or the peer is in the middle of changing its keys.
    private func seal(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard phase == .open else { return false }
        var step = TLS_WAITS
        let fault = tlsFault { text in
            step = tls_write(memory, bytes.baseAddress, bytes.count, text)
            return step == TLS_DONE || step == TLS_WAITS ? 1 : 0
        }
        if let fault { fail(fault) }
        return step == TLS_DONE
    }

    /// What OpenSSL says when two ends will never agree.
    private static let lasting = [
        "wrong version number", "packet length too long", "unsupported protocol", "alert protocol version",
        "alert handshake failure", "no application protocol", "alert unknown ca", "alert access denied",
        "alert unrecognized name", "no shared cipher", "peer did not return a certificate",
    ]

    /// What OpenSSL says of bytes that are no record.
    private static func explained(_ fault: String) -> String {
        let isForeign = ["wrong version number", "packet length too long", "http request"].contains(fault)
        return isForeign ? "the peer does not speak TLS (\(fault))" : fault
    }

    private func fail(_ why: String, wasDistrusted: Bool = false) {
        let isLasting =
            wasDistrusted || Self.lasting.contains { why.contains($0) }
            || why.contains("alert") && why.contains("certificate")
        phase = .failed(
            wasDistrusted ? "the certificate of the peer is not trusted: \(why)" : why, isLasting: isLasting)
    }

    /// Whether bytes can still be sealed and opened.
    var isUsable: Bool { phase == .open && !hasPeerEnded }

    /// Seals the end of what this end sends.
    func sealEnd() { if phase == .open { tls_say_end(memory) } }

    /// The sealed bytes that are ready for the peer.
    var output: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory.pointee.output, count: memory.pointee.output_count)
    }

    func removeOutput() { tls_take_output(memory) }

    /// How much longer a record is than what is in it, at most.
    private static let seal = 128

    /// Seals the first bytes of a queue into memory of their own, so that they need not be copied once more. What cannot be sealed
    /// now stays in the queue.
    /// - Parameter each: is told after each record how many sealed bytes there are, and how many are left in the queue.
    /// - Returns: the sealed bytes.
    func seal(_ most: Int, of queue: inout SendBuffer, _ each: (_ sealed: Int, _ left: Int) -> Void) -> Bytes {
        let count = min(most, queue.count)
        // One more record for each of the two pieces that a queue may have.
        let chunk = ByteChunk(capacity: count + (count / Self.largestRecord + 2) * Self.seal)
        tls_lend_output(memory, chunk.memory.baseAddress, chunk.memory.count)
        defer { tls_take_output(memory) }
        var left = count
        while left > 0 {
            let next = queue.bytes.isEmpty ? queue.sharedBytes : queue.bytes
            let record = UnsafeRawBufferPointer(rebasing: next.prefix(min(left, Self.largestRecord)))
            guard seal(record) else { break }
            queue.removeFirst(record.count)
            left -= record.count
            each(memory.pointee.output_count, queue.count)
        }
        return Bytes(chunk, 0..<memory.pointee.output_count)
    }

    // MARK: what the handshake has told

    var wasResumed: Bool { tls_was_resumed(memory) != 0 }

    private var peerPin: KeyPin? { KeyPin { tls_peer_pin(memory, $0) } }

    /// The name in the peer's certificate, which has been checked; nil if the peer has shown none.
    var peerName: String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(TLS_NAME)) { name in
            guard let place = name.baseAddress, tls_peer_name(memory, place) != 0 else { return nil }
            return String(validatingCString: place)
        }
    }

    /// What a later connection to the same server can begin with.
    var session: TLSSession? { tls_get_session(memory).map { TLSSession($0) } }
}
