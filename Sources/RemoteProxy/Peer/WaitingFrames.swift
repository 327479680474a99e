// Frames with requests that were read and may not begin yet, in the order in which they came. Replies come over the same
// connection, and can be read because the requests before them wait here.

import RPCWire

struct WaitingFrames {
    /// What a frame takes besides its bytes.
    private static let overhead = 128

    private var frames: [Bytes] = []
    private var first = 0
    /// How much memory the frames take, about.
    private(set) var bytes = 0

    var isEmpty: Bool { first == frames.count }
    var count: Int { frames.count - first }

    /// Adds a frame at the end. A small part of a large chunk is copied, so that it does not keep the chunk.
    mutating func append(_ frame: Bytes) {
        frames.append(frame.isSmallPart ? Bytes(copying: frame.memory) : frame)
        bytes += frame.count + Self.overhead
    }

    mutating func popFirst() -> Bytes? {
        guard first < frames.count else { return nil }
        let frame = frames[first]
        frames[first] = .empty
        first += 1
        bytes -= frame.count + Self.overhead
        if first == frames.count || first >= 256 {
            frames.removeFirst(first)
            first = 0
        }
        return frame
    }

    mutating func removeAll() { self = WaitingFrames() }
}

extension Bytes {
    /// Whether more than three quarters of the chunk that they lie in are something else.
    fileprivate var isSmallPart: Bool { count < (parts.chunk?.memory.count ?? 0) / 4 }
}
