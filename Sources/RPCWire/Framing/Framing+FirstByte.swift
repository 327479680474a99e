// Tells from the first byte of a stream what the peer speaks. HTTP is the one thing that must never pass for anything
// else: with it a web page would talk to this port through the browser of whoever reads the page.

extension Framing {
    /// The longest message that a length-prefixed connection can begin with: the first byte of a longer length is not 0x00.
    /// A connection that has a longer one to begin with begins with an empty frame.
    static let longestFirstLength = 0xFF_FFFF

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
