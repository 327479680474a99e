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
    var stops: UInt64 { stopBits & Self.highBits }

    /// The same with the slash, which the writer escapes.
    @inline(__always)
    var escapes: UInt64 { escapeBits & Self.highBits }

    @inline(__always)
    private var stopBits: UInt64 {
        let quotes = (word ^ Self.ones &* UInt64(UInt8(ascii: "\""))) &- Self.ones
        let backslashes = (word ^ Self.ones &* UInt64(UInt8(ascii: "\\"))) &- Self.ones
        let controls = word &- Self.ones &* 0x20
        return (quotes | backslashes | controls) & ~word
    }

    @inline(__always)
    private var escapeBits: UInt64 {
        let slashes = (word ^ Self.ones &* UInt64(UInt8(ascii: "/"))) &- Self.ones
        return stopBits | slashes & ~word
    }

    /// How many bytes stand before the lowest mark.
    @inline(__always)
    static func count(before marks: UInt64) -> Int { marks.trailingZeroBitCount &>> 3 }

    /// The bytes before the lowest mark, the others zero.
    @inline(__always)
    func bytes(before marks: UInt64) -> UInt64 { word & (((marks & (0 &- marks)) &>> 7) &- 1) }

    // MARK: Many at once

    /// How many bytes are looked at in one step where a text is long, and after how many it counts as long.
    static let stride = 64
    static let patience = 32

    /// Passes over whole strides that a string can pass over. Answers where it stopped, and every bit that any byte had.
    @inline(never)
    static func passOver(_ base: UnsafePointer<UInt8>, from start: Int, to end: Int) -> (at: Int, seen: UInt64) {
        var (at, seen): (Int, UInt64) = (start, 0)
        while at &+ stride <= end {
            var (marks, bits): (UInt64, UInt64) = (0, 0)
            // The compiler makes vectors of this loop.
            for step in 0..<stride / 8 {
                let eight = EightBytes(base, at: at &+ step &* 8)
                marks |= eight.stopBits
                bits |= eight.word
            }
            guard marks & highBits == 0 else { break }
            seen |= bits
            at &+= stride
        }
        return (at, seen)
    }

    /// Copies whole strides in which nothing needs an escape, and answers where it stopped.
    @inline(never)
    static func copyClean(
        _ base: UnsafePointer<UInt8>, from start: Int, to end: Int, into target: UnsafeMutablePointer<UInt8>
    ) -> Int {
        var at = start
        while at &+ stride <= end {
            var marks: UInt64 = 0
            for step in 0..<stride / 8 { marks |= EightBytes(base, at: at &+ step &* 8).escapeBits }
            guard marks & highBits == 0 else { break }
            (target + at).update(from: base + at, count: stride)
            at &+= stride
        }
        return at
    }
}
