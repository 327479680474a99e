// Messages in frames, for tests that write to a channel by hand.

package import RPCWire

extension ByteChannel {
    /// Puts one message into the outgoing queue, in a frame.
    @discardableResult
    package func append(_ message: UnsafeRawBufferPointer, framing: Framing) -> UInt64 {
        write { queue, _ in framing.write(.copied(message), into: &queue) }
    }

    /// The same for a large message, which is held and not copied.
    @discardableResult
    package func append(shared message: Bytes, framing: Framing) -> UInt64 {
        write { queue, _ in framing.write(.shared(message), into: &queue) }
    }
}

extension Framing {
    /// Appends one message to the buffer, in a frame.
    package func write(_ message: OutgoingMessage, into buffer: inout SendBuffer, isFirst: Bool = false) {
        var framer = framer
        framer.write(message, into: &buffer, isFirst: isFirst)
    }
}
