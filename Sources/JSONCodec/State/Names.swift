// Compares and marks member names, eight bytes at a time where their length allows.

/// Whether two names of the same length are equal.
@inline(__always)
func equalBytes(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, _ length: Int) -> Bool {
    guard length >= 8 else {
        var at = 0
        while at < length {
            if left[at] != right[at] { return false }
            at &+= 1
        }
        return true
    }
    var at = 0
    while at &+ 8 <= length {
        if EightBytes(left, at: at).word != EightBytes(right, at: at).word { return false }
        at &+= 8
    }
    return EightBytes(left, at: length &- 8).word == EightBytes(right, at: length &- 8).word
}

/// A mark that is equal for equal names and mostly differs for different ones.
@inline(__always)
func markOfName(_ name: UnsafePointer<UInt8>, _ length: Int) -> UInt32 {
    var word = UInt64(truncatingIfNeeded: length)
    if length >= 8 {
        word ^= EightBytes(name, at: 0).word &+ EightBytes(name, at: length &- 8).word &* 31
    } else {
        var at = 0
        var bytes: UInt64 = 0
        while at < length {
            bytes = bytes &<< 8 | UInt64(name[at])
            at &+= 1
        }
        word = word &<< 56 ^ bytes
    }
    return UInt32(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) &>> 32)
}
