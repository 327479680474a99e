// Looks at eight bytes of text in one step. The reader's and the writer's string loops run on this, and what reads messages.

/// Eight consecutive bytes, the first one lowest.
///
/// Usable from inlined code as a whole: of any other `package` type, what is `@inlinable` is called from other modules
/// all the same.
@usableFromInline
package struct EightBytes {
    @usableFromInline package let word: UInt64

    @inlinable @inline(__always)
    package init(_ base: UnsafeRawPointer, at offset: Int) {
        word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Zeros behind the end of a text, which has eight bytes at least.
    @inlinable @inline(__always)
    package init(_ base: UnsafeRawPointer, at offset: Int, of count: Int) {
        let missing = max(0, offset &+ 8 &- count)
        word = EightBytes(base, at: offset &- missing).word >> UInt64(truncatingIfNeeded: missing &* 8)
    }

    /// All of a text of less than eight bytes and at least one, and zeros behind it.
    @inline(__always)
    init(_ base: UnsafePointer<UInt8>, count: Int) {
        let raw = UnsafeRawPointer(base)
        if count >= 4 {
            let first = UInt32(littleEndian: raw.loadUnaligned(as: UInt32.self))
            let last = UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
            word = UInt64(first) | UInt64(last) &<< UInt64((count &- 4) &* 8)
        } else {
            let middle = count &>> 1
            word =
                UInt64(base[0]) | UInt64(base[middle]) &<< UInt64(middle &* 8)
                | UInt64(base[count &- 1]) &<< UInt64((count &- 1) &* 8)
        }
    }

    @inlinable package static var ones: UInt64 { 0x0101_0101_0101_0101 }
    @inlinable package static var highBits: UInt64 { 0x8080_8080_8080_8080 }

    /// The high bit of every byte that a string cannot simply pass over: a quote, a backslash, a control character.
    ///
    /// Borrows can mark bytes above a true mark, never below: the lowest mark is exact, and only that one is used.
    @inlinable @inline(__always)
    package var stops: UInt64 {
        // With the second bit turned, a quote is 0x20 and the controls are below it still.
        let quotesAndControls = (word ^ Self.ones &* 2) &- Self.ones &* 0x21
        let backslashes = (word ^ Self.ones &* UInt64(UInt8(ascii: "\\"))) &- Self.ones
        return (quotesAndControls | backslashes) & ~word & Self.highBits
    }

    /// The same with the slash, which the writer escapes.
    @inline(__always)
    var escapes: UInt64 {
        let slashes = (word ^ Self.ones &* UInt64(UInt8(ascii: "/"))) &- Self.ones
        return stops | slashes & ~word & Self.highBits
    }

    /// How many bytes stand before the lowest mark.
    @inlinable @inline(__always)
    package static func count(before marks: UInt64) -> Int { marks.trailingZeroBitCount &>> 3 }

    /// The bytes before the lowest mark, the others zero.
    @inline(__always)
    func bytes(before marks: UInt64) -> UInt64 { word & (((marks & (0 &- marks)) &>> 7) &- 1) }

    // MARK: Digits

    /// How many digits stand before the first byte that is none.
    @inlinable @inline(__always)
    package var digitCount: Int {
        // What is above nine gets its high bit set, if it has not had it before.
        let digits = word ^ Self.ones &* UInt64(UInt8(ascii: "0"))
        return Self.count(before: (digits &+ Self.ones &* 0x76 | digits) & Self.highBits)
    }

    /// The number that so many digits make, of which there is at least one.
    @inlinable @inline(__always)
    package func number(ofDigits count: Int) -> UInt64 {
        // Zeros come before them, and nothing stays behind.
        let digits = (word ^ Self.ones &* UInt64(UInt8(ascii: "0"))) &<< UInt64((8 &- count) &* 8)
        // Neighbours are joined to pairs. The first and the third, and the second and the fourth, are multiplied by what
        // they count for and added up, all in the upper half.
        let pairs = digits &* 10 &+ digits &>> 8
        let (odd, even) = (pairs & 0xFF_0000_00FF, pairs &>> 16 & 0xFF_0000_00FF)
        return (odd &* (1_000_000 &<< 32 | 100) &+ even &* (10_000 &<< 32 | 1)) &>> 32
    }

    /// How many numbers there are of eight digits and less.
    @inline(__always)
    package static var numbers: UInt64 { 100_000_000 }

    /// The digits of such a number, with zeros before them.
    @inline(__always)
    package init(number: UInt64) {
        // Split into halves, these into pairs, and these into digits: each next to its neighbour, all of one kind at once.
        // Multiplying and dropping bits divides numbers as small as these.
        let halves = number / 10_000 | (number % 10_000) &<< 32
        let hundreds = (halves &* 10_486) &>> 20 & 0x7F_0000_007F
        let pairs = hundreds | (halves &- hundreds &* 100) &<< 16
        let tens = (pairs &* 103) &>> 10 & 0xF_000F_000F_000F
        let digits = tens | (pairs &- tens &* 10) &<< 8
        word = digits | Self.ones &* UInt64(UInt8(ascii: "0"))
    }

    /// How many zeros stand before the first other digit, but for the last digit of all.
    @inline(__always)
    package var leadingZeros: Int {
        Self.count(before: word ^ Self.ones &* UInt64(UInt8(ascii: "0")) | 1 &<< 63)
    }

    /// How many zeros stand behind the last other digit.
    @inline(__always)
    var zerosAtEnd: Int { (word ^ Self.ones &* UInt64(UInt8(ascii: "0"))).leadingZeroBitCount &>> 3 }

    /// Writes all but so many of the first ones, and that many zeros behind them: there is room for eight.
    @inline(__always)
    func write(to target: UnsafeMutablePointer<UInt8>, dropping count: Int) {
        let kept = word &>> UInt64(truncatingIfNeeded: count &* 8)
        UnsafeMutableRawPointer(target).storeBytes(of: kept.littleEndian, as: UInt64.self)
    }
}
