// A reply with a result, as the calling side wants it: which call it is to, and where in its frame the result stands.

package struct PlainReply: Sendable {
    package let number: Int64
    let start: Int
    let end: Int

    /// JSON text.
    /// - Parameter frame: the one that the reply was read from.
    @inline(__always)
    func value(in frame: Bytes) -> Bytes { Bytes(start: start, end: end, of: frame) }

    /// The same for who has no more use for the frame.
    package func value(insteadOf frame: consuming Bytes) -> Bytes { Bytes(start: start, end: end, of: frame) }
}
