// The sending side of one connection, as everything that sends over it sees it. Created and ended by the connection.

import JSONCodec
package import RPCWire
import Synchronization

/// Frames messages for the other end of a connection and puts them into its outgoing queue. May be used from anywhere: what
/// the two ends have found out about each other is written on the loop and read by callers without a lock.
package final class MessageChannel: Sendable {
    package let stream: any ByteChannel
    /// Tells this connection from the others that serve the same requester.
    let number: Int
    /// Whether this end has dialled, so that its first byte tells the framing.
    private let tellsFraming: Bool
    private let framingNumber: Atomic<UInt8>
    private let areOfOneKind = Atomic(false)

    /// - Parameter framing: nil until the peer has sent its first byte.
    init(_ stream: any ByteChannel, number: Int, framing: Framing?) {
        self.stream = stream
        self.number = number
        tellsFraming = framing != nil
        framingNumber = Atomic((framing ?? .lines).rawValue)
    }

    /// How this end frames what it sends.
    var framing: Framing {
        get { Framing(rawValue: framingNumber.load(ordering: .relaxed)) ?? .lines }
        set { framingNumber.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// Whether both ends are ours, so that members and messages may be sent that other programs do not know.
    var isOurKind: Bool {
        get { areOfOneKind.load(ordering: .relaxed) }
        set { areOfOneKind.store(newValue, ordering: .relaxed) }
    }

    /// Puts one message into the outgoing queue; the caller flushes. Returns the offset of its first byte in the stream.
    @discardableResult
    func append(_ message: UnsafeRawBufferPointer) -> UInt64 { write(.copied(message)) }

    /// The same for a large message, which is not copied if that can be helped.
    @discardableResult
    func append(shared message: Bytes) -> UInt64 { write(.shared(message)) }

    private func write(_ message: OutgoingMessage) -> UInt64 {
        stream.write { queue, offset in framing.write(message, into: &queue, isFirst: tellsFraming && offset == 0) }
    }

    /// The same for a message of this end's own.
    func append(_ write: (JSONOutput) -> Void) {
        let output = JSONOutput()
        write(output)
        append(output.bytes)
    }

    /// Sends a notification of this end's own.
    func notify(_ method: String) {
        append { MessageEncoder.writeNotification(method, in: $0) }
        stream.flush()
    }

    /// Says that this end does not come back, and ends the connection.
    func sayGoodbye() {
        if isOurKind { notify(SystemMethod.goodbye) }
        stream.close()
    }
}
