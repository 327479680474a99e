// Compares and marks member names, eight bytes at a time where their length allows.

/// Whether two names of the same length are equal.
@inline(__always)
package func equalBytes(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, _ length: Int) -> Bool {
    guard length >= 8 else { return equalShort(left, right, length) }
    var at = 0
    while at &+ 8 <= length {
        if EightBytes(left, at: at).word != EightBytes(right, at: at).word { return false }
        at &+= 8
    }
    return EightBytes(left, at: length &- 8).word == EightBytes(right, at: length &- 8).word
}

extension UnsafeRawBufferPointer {
    /// Whether both have the same bytes, of any number.
    @inline(__always)
    package func hasEqualBytes(_ other: Self) -> Bool {
        guard count == other.count else { return false }
        guard let one = baseAddress, let other = other.baseAddress else { return true }
        return equalBytes(one.assumingMemoryBound(to: UInt8.self), other.assumingMemoryBound(to: UInt8.self), count)
    }
}

@inline(__always)
private func equalShort(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, _ length: Int) -> Bool {
    func fourBytes(_ base: UnsafePointer<UInt8>, _ offset: Int) -> UInt32 {
        UnsafeRawPointer(base).loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    }
    if length >= 4 {
        return fourBytes(left, 0) == fourBytes(right, 0)
            && fourBytes(left, length &- 4) == fourBytes(right, length &- 4)
    }
    var at = 0
    while at < length {
        if left[at] != right[at] { return false }
        at &+= 1
    }
    return true
}

/// A hash that is equal for equal names, and mostly differs for different ones.
@inline(__always)
func markOfName(_ name: UnsafePointer<UInt8>, _ length: Int) -> UInt32 {
    var word = UInt64(truncatingIfNeeded: length) &<< 56
    if length >= 8 {
        word = EightBytes(name, at: 0).word &+ EightBytes(name, at: length &- 8).word &* 31 &+ UInt64(length)
    } else if length > 0 {
        word ^= EightBytes(name, count: length).word
    }
    return UInt32(truncatingIfNeeded: ((word ^ word &>> 29) &* 0x9E37_79B9_7F4A_7C15) &>> 32)
}
