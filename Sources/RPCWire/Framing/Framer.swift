// Framings: how messages are separated in the bytes of a connection, and how large they may be. To add one, add a case to `Framing` and a
// conformer of `Framer`. Each conformer is one file, which holds both its reading and its writing.

/// Cuts the bytes of one connection into frames, or puts sent messages into frames. Knows neither JSON nor sockets. A connection
/// has two: one reads, and one writes.
///
/// A framing that needs state, such as WebSocket with its mask and control frames, keeps it in its conformer. HTTP is not a
/// framing but another kind of connection: its messages have a method, a path and one answer each.
package protocol Framer: Sendable {
    /// Takes the next whole frame from the front of the unread bytes, as a view. Leaves the bytes of an incomplete frame there.
    /// - Parameter unread: not empty.
    /// - Returns: nil when more bytes are needed.
    /// - Throws: when the start of the next frame cannot be known. The framer is not called again then.
    mutating func next(in unread: inout UnreadBytes, limits: FrameLimits) throws(FramingError) -> Frame?

    /// Makes the last frame whole when no more bytes come, if its end may be left out.
    mutating func end(_ unread: inout UnreadBytes)

    /// Appends one whole frame to the buffer.
    /// - Parameters:
    ///   - message: is copied, unless it is large: then it is held until it has been sent (`SendBuffer.append`).
    ///   - isFirst: whether the frame begins a connection that this end has dialled, and so tells the peer the framing.
    mutating func write(_ message: OutgoingMessage, into buffer: inout SendBuffer, isFirst: Bool)
}

extension Framer {
    package mutating func end(_ unread: inout UnreadBytes) {}
}

/// What a framer has found in the bytes of its connection.
package enum Frame: Sendable {
    /// An empty message is none: some peers send such frames to keep a connection open.
    case message(Bytes)
    /// The peer is to get these bytes as they are, in answer to a frame of the framing's own.
    case reply(Bytes)
    /// The peer ends the connection, and gets these bytes before. No frame follows.
    case end(reply: Bytes)
}

/// Puts the messages of one connection into frames.
package struct FrameWriter: Sendable {
    private var framer: any Framer
    private let isLengthPrefixed: Bool

    package init(_ framer: any Framer) {
        self.framer = framer
        isLengthPrefixed = framer is LengthFramer
    }

    @inline(__always)
    package mutating func write(_ message: OutgoingMessage, into buffer: inout SendBuffer, isFirst: Bool) {
        guard isLengthPrefixed else { return framer.write(message, into: &buffer, isFirst: isFirst) }
        // The same, but without finding the framer's function and memory at run time for each message.
        LengthFramer().write(message, into: &buffer, isFirst: isFirst)
    }
}

/// How much a peer may send before a frame is complete. The error for a limit contains the limit's name and value.
package struct FrameLimits: Sendable, Hashable {
    /// Bytes of one frame, not counting its prefix, headers or line end.
    package var maximumFrameSize: Int
    /// Bytes of one header block, from its first name to the blank line.
    package var maximumHeaderBlock: Int
    package var maximumHeaderLines: Int

    package init(
        maximumFrameSize: Int = 16_777_216, maximumHeaderBlock: Int = 8_192, maximumHeaderLines: Int = 64
    ) {
        self.maximumFrameSize = maximumFrameSize
        self.maximumHeaderBlock = maximumHeaderBlock
        self.maximumHeaderLines = maximumHeaderLines
    }

    /// Returns the length of a frame, or throws if it is over the limit. Called as soon as the length is known.
    func checked(_ length: Int) throws(FramingError) -> Int {
        guard length <= maximumFrameSize else { throw .frameTooLarge(length: length, limit: maximumFrameSize) }
        return length
    }
}

/// A way to separate messages in the bytes of a connection.
package enum Framing: UInt8, Sendable, Hashable, CaseIterable {
    /// A 4-byte big-endian length, then JSON. Peers that run this library use it.
    case lengthPrefixed
    /// One JSON text per line. JSON text that this library writes has no line feed.
    case lines
    /// `Content-Length` headers, a blank line, then JSON. Language servers use it.
    case headers

    /// A new framer, for the beginning of a connection.
    package var framer: any Framer {
        switch self {
        case .lengthPrefixed: LengthFramer()
        case .lines: LineFramer()
        case .headers: HeaderFramer()
        }
    }

    /// Finds the framing of a peer by the first byte of its connection. HTTP must never pass for a framing: otherwise a web
    /// page could talk to this port through the browser of its reader.
    /// - Parameters:
    ///   - byte: the first byte that is not white space.
    ///   - isFirst: whether no white space came before it. Only a line may have white space before it.
    static func detect(firstByte byte: UInt8, isFirst: Bool) throws(FramingError) -> Framing {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .lines
        case 0x00 where isFirst: return .lengthPrefixed
        case UInt8(ascii: "C") where isFirst, UInt8(ascii: "c") where isFirst: return .headers
        case _ where isLetter(byte): throw .http
        default: throw .unrecognised(byte)
        }
    }
}
