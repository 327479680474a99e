// The memory into which a loop receives: one chunk for all its channels, used again when no view of it is left. So ten thousand
// idle connections need no memory of their own, and a busy one allocates nothing.

import RPCWire

/// Touched only by the loop's thread.
final class ReadBuffer {
    private static let usual = 64 << 10
    /// The room for a channel that receives much. It saves fifteen of sixteen system calls.
    private static let generous = 1 << 20
    /// The least room for a read. With less, many messages would be cut in pieces.
    private static let least = 4 << 10
    /// Reads begin at multiples of this. On some processors the kernel copies three times as slowly to other addresses.
    private static let step = 16

    private var chunk = ByteChunk(capacity: ReadBuffer.usual)
    private var used = 0
    private var largeChunk: ByteChunk?

    /// Reads once, and delivers the bytes.
    /// - Parameters:
    ///   - generously: whether the last read was so big that this one gets more room.
    ///   - receive: fills the room that it is given.
    /// - Returns: the result of the read, and whether there is probably more to read.
    func read(
        generously: Bool, receive: (UnsafeMutableRawBufferPointer) -> Transfer, deliver: (Bytes) -> Void
    ) -> (transfer: Transfer, isFull: Bool) {
        if generously { return readGenerously(receive, deliver) }
        let window = UnsafeMutableRawBufferPointer(rebasing: chunk.memory[used...])
        let transfer = receive(window)
        guard case .bytes(let count) = transfer, count > 0 else { return (transfer, false) }
        deliver(Bytes(chunk, used..<used + count))
        if isKnownUniquelyReferenced(&chunk) {
            used = 0
        } else if ReadBuffer.usual - used - count >= ReadBuffer.least {
            used = (used + count + ReadBuffer.step - 1) / ReadBuffer.step * ReadBuffer.step
        } else {
            chunk = ByteChunk(capacity: ReadBuffer.usual)
            used = 0
        }
        return (transfer, count == window.count)
    }

    private func readGenerously(
        _ receive: (UnsafeMutableRawBufferPointer) -> Transfer, _ deliver: (Bytes) -> Void
    ) -> (Transfer, Bool) {
        var chunk = largeChunk.take() ?? ByteChunk(capacity: ReadBuffer.generous)
        let transfer = receive(chunk.memory)
        var count = 0
        if case .bytes(let received) = transfer { count = received }
        if count > 0 { deliver(Bytes(chunk, 0..<count)) }
        if isKnownUniquelyReferenced(&chunk) { largeChunk = chunk }
        return (transfer, count >= ReadBuffer.usual)
    }
}
