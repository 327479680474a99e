// Looks at eight bytes of text in one step. The reader's and the writer's string loops run on this.

/// Eight consecutive bytes, the first one lowest.
struct EightBytes {
    let word: UInt64

    @inline(__always)
    init(_ base: UnsafePointer<UInt8>, at offset: Int) {
        word = UInt64(
            littleEndian: UnsafeRawPointer(base).loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101
    static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// The high bit of every byte that a string cannot simply pass over: a quote, a backslash, a control character.
    ///
    /// Borrows can mark bytes above a true mark, never below: the lowest mark is exact, and only that one is used.
    @inline(__always)
    var stops: UInt64 {
        let quotes = (word ^ Self.ones &* UInt64(UInt8(ascii: "\""))) &- Self.ones
        let backslashes = (word ^ Self.ones &* UInt64(UInt8(ascii: "\\"))) &- Self.ones
        let controls = word &- Self.ones &* 0x20
        return (quotes | backslashes | controls) & ~word & Self.highBits
    }

    /// The same with the slash, which the writer escapes.
    @inline(__always)
    var escapes: UInt64 {
        let slashes = (word ^ Self.ones &* UInt64(UInt8(ascii: "/"))) &- Self.ones
        return stops | slashes & ~word & Self.highBits
    }

    /// How many bytes stand before the lowest mark.
    @inline(__always)
    static func count(before marks: UInt64) -> Int { marks.trailingZeroBitCount &>> 3 }

    /// The bytes before the lowest mark, the others zero.
    @inline(__always)
    func bytes(before marks: UInt64) -> UInt64 { word & (((marks & (0 &- marks)) &>> 7) &- 1) }
}
