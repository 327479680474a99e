// The seam between messages and bytes: how messages are told apart in a stream. A framing is a case of `Framing` and a conformer of
// `Framer`, each in one file with what it reads and what it writes.

/// Cuts the bytes of one connection into frames, and puts frames around what is sent. Knows neither JSON nor sockets.
///
/// A framing with a state of its own, as WebSocket's mask and control frames, keeps it in its conformer. HTTP is no framing but
/// a connection of another kind: its messages come with a method, a path and one answer each.
protocol Framer: Sendable {
    /// Takes the next whole frame from the front, as a view. A framer leaves the bytes of a frame there until it is whole.
    /// - Parameter unread: not empty.
    /// - Returns: nil when more bytes are needed. A frame in which nothing stands is empty.
    /// - Throws: when it cannot be known where the next frame begins. The framer is not asked again then.
    mutating func next(in unread: inout UnreadBytes, limits: FrameLimits) throws(FramingError) -> Bytes?

    /// Appends one whole frame.
    /// - Parameters:
    ///   - message: copied, or held until it has been sent if it is large (`SendBuffer.append`).
    ///   - isFirst: whether the frame tells the other end the framing: it begins a connection that this end has dialled.
    static func write(_ message: OutgoingMessage, into buffer: inout SendBuffer, isFirst: Bool)
}

/// How messages are told apart in a stream of bytes.
package enum Framing: UInt8, Sendable, Hashable, CaseIterable {
    /// A 4-byte big-endian length, then JSON. What our own ends speak.
    case lengthPrefixed
    /// One JSON text per line.
    case lines
    /// `Content-Length` headers, a blank line, then JSON, as language servers speak.
    case headers

    /// A framer at the beginning of a connection.
    var framer: any Framer {
        switch self {
        case .lengthPrefixed: LengthFramer()
        case .lines: LineFramer()
        case .headers: HeaderFramer()
        }
    }

    /// Appends one whole frame.
    /// - Parameters:
    ///   - message: for lines it must not hold a line feed; JSON text that this library writes never does.
    ///   - isFirst: whether the frame tells the other end the framing: it begins a connection that this end has dialled.
    package func write(_ message: OutgoingMessage, into buffer: inout SendBuffer, isFirst: Bool = false) {
        switch self {
        case .lengthPrefixed: LengthFramer.write(message, into: &buffer, isFirst: isFirst)
        case .lines: LineFramer.write(message, into: &buffer, isFirst: isFirst)
        case .headers: HeaderFramer.write(message, into: &buffer, isFirst: isFirst)
        }
    }

    /// Tells from the first byte of a connection what the peer speaks. HTTP must never pass for anything else: with it a web
    /// page would talk to this port through the browser of its reader.
    /// - Parameters:
    ///   - byte: the first byte that is not white space.
    ///   - isFirst: whether no white space came before it. A line may be indented; nothing else may.
    static func told(by byte: UInt8, isFirst: Bool) throws(FramingError) -> Framing {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .lines
        case 0x00 where isFirst: return .lengthPrefixed
        case UInt8(ascii: "C") where isFirst, UInt8(ascii: "c") where isFirst: return .headers
        case _ where isLetter(byte): throw .http
        default: throw .unrecognised(byte)
        }
    }
}
