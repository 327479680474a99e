// How messages are told apart in a stream of bytes.

package enum Framing: UInt8, Sendable, Hashable {
    /// A 4-byte big-endian length, then JSON. What our own ends speak.
    case lengthPrefixed
    /// One JSON text per line.
    case lines
    /// `Content-Length` headers, a blank line, then JSON, as language servers speak.
    case headers
}
