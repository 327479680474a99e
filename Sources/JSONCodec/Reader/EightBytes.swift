// Examines eight bytes of text in one step. The string loops of the reader and the writer use it, and so does the message
// scanner.

/// Eight consecutive bytes, the first one lowest.
///
/// `@usableFromInline` is needed for inlining: without it, other modules call the `@inlinable` members and do not inline
/// them.
@usableFromInline
package struct EightBytes {
    @usableFromInline package let word: UInt64

    @inlinable @inline(__always)
    package init(_ base: UnsafeRawPointer, at offset: Int) {
        word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Reads at an offset of a text of at least eight bytes, with zeros behind the end of the text.
    @inlinable @inline(__always)
    package init(_ base: UnsafeRawPointer, at offset: Int, of count: Int) {
        let missing = max(0, offset &+ 8 &- count)
        word = EightBytes(base, at: offset &- missing).word >> UInt64(truncatingIfNeeded: missing &* 8)
    }

    /// Reads the whole of a text of one to seven bytes, with zeros behind it.
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

    /// Marks every byte at which a string loop has to stop, by its high bit: a quote, a backslash, a control character.
    ///
    /// Borrows can mark bytes above a true mark, never below: the lowest mark is exact, and only that one is used.
    @inlinable @inline(__always)
    package var stops: UInt64 {
        // With its second bit flipped, a quote is 0x20, and the control characters are still below that.
        let quotesAndControls = (word ^ Self.ones &* 2) &- Self.ones &* 0x21
        let backslashes = (word ^ Self.ones &* UInt64(UInt8(ascii: "\\"))) &- Self.ones
        return (quotesAndControls | backslashes) & ~word & Self.highBits
    }

    /// How many bytes are before the lowest mark.
    @inlinable @inline(__always)
    package static func count(before marks: UInt64) -> Int { marks.trailingZeroBitCount &>> 3 }

    // MARK: Digits

    /// How many digits are before the first byte that is not one.
    @inlinable @inline(__always)
    package var digitCount: Int {
        // A byte above nine gets its high bit set, unless it is set already.
        let digits = word ^ Self.ones &* UInt64(UInt8(ascii: "0"))
        return Self.count(before: (digits &+ Self.ones &* 0x76 | digits) & Self.highBits)
    }

    /// The number that the first `count` digits make. There must be at least one.
    @inlinable @inline(__always)
    package func number(ofDigits count: Int) -> UInt64 {
        // Shifting puts zeros before the digits and drops the other bytes.
        let digits = (word ^ Self.ones &* UInt64(UInt8(ascii: "0"))) &<< UInt64((8 &- count) &* 8)
        // Neighbouring digits are joined to pairs. The first and third pair, and the second and fourth, are multiplied by their
        // place values and added, all in the upper half.
        let pairs = digits &* 10 &+ digits &>> 8
        let (odd, even) = (pairs & 0xFF_0000_00FF, pairs &>> 16 & 0xFF_0000_00FF)
        return (odd &* (1_000_000 &<< 32 | 100) &+ even &* (10_000 &<< 32 | 1)) &>> 32
    }

    /// How many numbers have at most eight digits.
    @inline(__always)
    package static var numbers: UInt64 { 100_000_000 }

    /// The digits of such a number, with zeros before them.
    @inline(__always)
    package init(number: UInt64) {
        // The number is split into halves, these into pairs, and these into digits: all of one size at once. Such small numbers
        // are divided by multiplying and dropping bits.
        let halves = number / 10_000 | (number % 10_000) &<< 32
        let hundreds = (halves &* 10_486) &>> 20 & 0x7F_0000_007F
        let pairs = hundreds | (halves &- hundreds &* 100) &<< 16
        let tens = (pairs &* 103) &>> 10 & 0xF_000F_000F_000F
        let digits = tens | (pairs &- tens &* 10) &<< 8
        word = digits | Self.ones &* UInt64(UInt8(ascii: "0"))
    }

    /// How many zeros are before the first other digit. The last digit does not count.
    @inline(__always)
    package var leadingZeros: Int {
        Self.count(before: word ^ Self.ones &* UInt64(UInt8(ascii: "0")) | 1 &<< 63)
    }

    /// How many zeros are behind the last other digit.
    @inline(__always)
    var zerosAtEnd: Int { (word ^ Self.ones &* UInt64(UInt8(ascii: "0"))).leadingZeroBitCount &>> 3 }

    /// Writes the digits without the first `count`, and that many zeros behind them. Needs room for eight bytes.
    @inline(__always)
    func write(to target: UnsafeMutablePointer<UInt8>, dropping count: Int) {
        let kept = word &>> UInt64(truncatingIfNeeded: count &* 8)
        UnsafeMutableRawPointer(target).storeBytes(of: kept.littleEndian, as: UInt64.self)
    }
}
