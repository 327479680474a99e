// A receiver that writes down what it is told, and lets a test wait for what it expects without sleeping.

import RPCSockets
import RPCWire
import TestSupport

final class RecordingReceiver: ByteReceiver {
    struct Record {
        var bytes: [UInt8] = []
        var ends: [ChannelEnd] = []
        var sent: UInt64?
        var callsOffLoop = 0
        var bytesAfterEnd = 0
        /// How often it was told that its output changes.
        var outputChanges = 0
        /// How often it was told that reading has paused.
        var pauses = 0
        /// How often it was told that the peer sends no more.
        var peerEnds = 0
    }

    private struct State {
        var record = Record()
        var wantsMore = true
        var hasMoreToSend = false
        var waiting: [(condition: @Sendable (Record) -> Bool, resume: @Sendable () -> Void)] = []
    }

    private let state = Lock(State())
    private let loop: any Loop
    private let onBytes: (@Sendable (Bytes) -> Void)?

    init(on loop: any Loop, onBytes: (@Sendable (Bytes) -> Void)? = nil) {
        self.loop = loop
        self.onBytes = onBytes
    }

    var record: Record { state.withLock { $0.record } }
    var text: String { String(decoding: record.bytes, as: UTF8.self) }

    func received(_ bytes: Bytes) {
        // First, so that whoever waits for the bytes finds done what was to be done with them.
        onBytes?(bytes)
        note { record in
            bytes.withUnsafeBytes { record.bytes.append(contentsOf: $0) }
            if !record.ends.isEmpty { record.bytesAfterEnd += bytes.count }
        }
    }

    func outputChanged() { note { $0.outputChanges += 1 } }
    func pausedReading() { note { $0.pauses += 1 } }

    /// Whether it takes bytes.
    var wantsMore: Bool {
        get { state.withLock { $0.wantsMore } }
        set { state.withLock { $0.wantsMore = newValue } }
    }

    /// Whether it still writes when the peer sends no more.
    var hasMoreToSend: Bool {
        get { state.withLock { $0.hasMoreToSend } }
        set { state.withLock { $0.hasMoreToSend = newValue } }
    }

    func peerFinished() -> Bool {
        note { $0.peerEnds += 1 }
        return hasMoreToSend
    }

    func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) {
        note { record in
            record.ends.append(end)
            record.sent = sent
        }
    }

    /// Waits until the record is as wanted, or will never be because the stream has ended: a test that hangs tells
    /// nobody why.
    func wait(until condition: @escaping @Sendable (Record) -> Bool) async throws {
        try await handedOver { done in
            let isMet = state.withLock { state in
                if condition(state.record) || !state.record.ends.isEmpty { return true }
                state.waiting.append((condition, { done(()) }))
                return false
            }
            if isMet { done(()) }
        }
    }

    func waitForEnd() async throws -> ChannelEnd {
        try await wait { !$0.ends.isEmpty }
        return record.ends[0]
    }

    private func note(_ change: (inout Record) -> Void) {
        let isOnLoop = loop.isCurrent
        let ready = state.withLock { state in
            if !isOnLoop { state.record.callsOffLoop += 1 }
            change(&state.record)
            let hasEnded = !state.record.ends.isEmpty
            let ready = state.waiting.filter { hasEnded || $0.condition(state.record) }
            if !ready.isEmpty { state.waiting.removeAll { hasEnded || $0.condition(state.record) } }
            return ready
        }
        for entry in ready { entry.resume() }
    }
}

extension ByteChannel {
    /// Appends a text as one message.
    @discardableResult
    func append(_ text: String, framing: Framing = .lines) -> UInt64 {
        var text = text
        return text.withUTF8 { append(UnsafeRawBufferPointer($0), framing: framing) }
    }

    func send(_ text: String) {
        append(text)
        flush()
    }
}
