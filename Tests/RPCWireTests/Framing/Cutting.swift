// What the framing tests share: bytes cut into pieces, fed one after the other, and what came out.

import RPCWire
import TestSupport

struct Cut: Equatable, CustomStringConvertible {
    var frames: [String] = []
    var error: FramingError?

    var description: String { "\(frames.prefix(5)) … (\(frames.count)), \(error.map { "\($0)" } ?? "no error")" }
}

/// Feeds the pieces to a decoder and takes every frame as soon as it is whole, but for those in which nothing stands.
func cut(_ pieces: some Sequence<some Collection<UInt8>>, limits: FrameLimits = .init(), framing: Framing? = nil) -> Cut
{
    var decoder = FrameReader(limits: limits, framing?.framer)
    var cut = Cut()
    for piece in pieces {
        decoder.append(bytes(piece))
        do {
            while let frame = try decoder.nextMessage() { if !frame.isEmpty { cut.frames.append(frame.description) } }
        } catch {
            cut.error = error
        }
    }
    return cut
}

func cut(_ text: String, limits: FrameLimits = .init(), framing: Framing? = nil) -> Cut {
    cut([Array(text.utf8)], limits: limits, framing: framing)
}

func bytes(_ collection: some Collection<UInt8>) -> Bytes {
    Array(collection).withUnsafeBytes { Bytes(copying: $0) }
}

extension Array<UInt8> {
    func pieces(of size: Int) -> [ArraySlice<UInt8>] {
        stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
    }
}

func framed(_ texts: some Sequence<String>, _ framing: Framing) -> [UInt8] {
    var buffer = SendBuffer()
    for var text in texts {
        text.withUTF8 { framing.write(.copied(UnsafeRawBufferPointer($0)), into: &buffer) }
    }
    return Array(buffer.bytes)
}

let allFramings: [Framing] = [.lengthPrefixed, .lines, .headers]

extension FrameReader {
    /// The next message, of a framing that has no other frames.
    mutating func nextMessage() throws(FramingError) -> Bytes? {
        guard case .message(let message) = try next() else { return nil }
        return message
    }
}
