// Compares and marks member names, eight bytes at a time where their length allows.

/// Equal for one and the same String; equal Strings may differ here.
@inline(__always)
func bitsOfName(_ name: String) -> (UInt64, UInt64) { unsafeBitCast(name, to: (UInt64, UInt64).self) }

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

/// A mark that is equal for equal names and mostly differs for different ones.
@inline(__always)
func markOfName(_ name: UnsafePointer<UInt8>, _ length: Int) -> UInt32 {
    if length >= 8 {
        return spread(EightBytes(name, at: 0).word &+ EightBytes(name, at: length &- 8).word &* 31 &+ UInt64(length))
    }
    var word: UInt64 = 0
    var at = length
    while at > 0 {
        at &-= 1
        word = word &<< 8 | UInt64(name[at])
    }
    return markOfShortName(word, length)
}

/// The same for a name of less than eight bytes, the first one lowest.
@inline(__always)
func markOfShortName(_ word: UInt64, _ length: Int) -> UInt32 { spread(word ^ UInt64(length) &<< 56) }

@inline(__always)
private func spread(_ word: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: ((word ^ word &>> 29) &* 0x9E37_79B9_7F4A_7C15) &>> 32)
}

extension JSONReader {
    /// Where the next name starts, behind a comma and at most one blank.
    @inline(__always)
    func nextName(from start: Int, isFirst: Bool) -> Int? {
        guard start &+ 2 <= count else { return nil }
        if isFirst { return start }
        guard base[start] == UInt8(ascii: ",") else { return nil }
        return base[start &+ 1] == UInt8(ascii: " ") ? start &+ 2 : start &+ 1
    }

    /// Passes over a comma and a name of less than sixteen ASCII characters, with at most one blank between the two: the
    /// usual case in a few steps. Nil, with the cursor unmoved, for anything else.
    @inline(__always)
    mutating func plainName(isFirst: Bool) -> (start: Int, length: Int, mark: UInt32)? {
        guard let quote = nextName(from: position, isFirst: isFirst), quote &+ 11 <= count,
            base[quote] == UInt8(ascii: "\"")
        else { return nil }
        let at = quote &+ 1
        let first = EightBytes(base, at: at)
        if first.stops == 0 { return longerName(at, first) }
        let length = EightBytes.count(before: first.stops)
        let word = first.bytes(before: first.stops)
        guard word & EightBytes.highBits == 0, endName(at &+ length) else { return nil }
        return (at, length, markOfShortName(word, length))
    }

    @inline(__always)
    private mutating func longerName(
        _ start: Int, _ first: EightBytes
    ) -> (start: Int, length: Int, mark: UInt32)? {
        guard start &+ 17 <= count else { return nil }
        let second = EightBytes(base, at: start &+ 8)
        let stops = second.stops
        guard stops != 0, (first.word | second.bytes(before: stops)) & EightBytes.highBits == 0 else { return nil }
        let length = 8 &+ EightBytes.count(before: stops)
        guard endName(start &+ length) else { return nil }
        return (start, length, markOfName(base + start, length))
    }

    /// Passes over the quote at an offset and the colon behind it, which lies within the text.
    @inline(__always)
    private mutating func endName(_ quote: Int) -> Bool {
        guard base[quote] == UInt8(ascii: "\""), base[quote &+ 1] == UInt8(ascii: ":") else { return false }
        position = quote &+ 2
        return true
    }

    /// Passes over a comma and a name of less than eight ASCII characters, written without white space: the usual case
    /// in one step. Nil, with the cursor unmoved, for anything else.
    @inline(__always)
    mutating func shortName(isFirst: Bool) -> (start: Int, length: Int, word: UInt64)? {
        var at = position
        guard at &+ 12 <= count else { return nil }
        if !isFirst {
            guard base[at] == UInt8(ascii: ",") else { return nil }
            at &+= 1
        }
        guard base[at] == UInt8(ascii: "\"") else { return nil }
        at &+= 1
        let eight = EightBytes(base, at: at)
        let stops = eight.stops
        guard stops != 0 else { return nil }
        let length = EightBytes.count(before: stops)
        let word = eight.bytes(before: stops)
        guard base[at &+ length] == UInt8(ascii: "\""), base[at &+ length &+ 1] == UInt8(ascii: ":"),
            word & EightBytes.highBits == 0
        else { return nil }
        position = at &+ length &+ 2
        return (at, length, word)
    }

    /// Passes over the name of the next member when it is written in the usual way: less than eight ASCII characters and
    /// no blanks around. Its characters as one number, the first one lowest; 0, with the cursor unmoved, otherwise.
    package mutating func nextShortName() -> UInt64 {
        let start = position
        guard let name = shortName(isFirst: isFirst) else { return nextShortNameNearTheEnd() }
        // An empty name would be told from none by nothing.
        guard name.length > 0 else {
            position = start
            return 0
        }
        isFirst = false
        return name.word
    }

    /// The same where less than eight bytes may be left to look at.
    private mutating func nextShortNameNearTheEnd() -> UInt64 {
        var at = position
        if !isFirst {
            guard at < count, base[at] == UInt8(ascii: ",") else { return 0 }
            at &+= 1
        }
        guard at < count, base[at] == UInt8(ascii: "\"") else { return 0 }
        at &+= 1
        let start = at
        var word: UInt64 = 0
        while at < count, at &- start < 8, base[at] != UInt8(ascii: "\"") {
            let byte = base[at]
            guard byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\\") else { return 0 }
            word |= UInt64(byte) &<< UInt64((at &- start) &* 8)
            at &+= 1
        }
        guard at &- start < 8, at > start, at &+ 1 < count, base[at] == UInt8(ascii: "\""),
            base[at &+ 1] == UInt8(ascii: ":")
        else { return 0 }
        isFirst = false
        position = at &+ 2
        return word
    }

    /// Passes over exactly this text. False, with the cursor unmoved, when something else stands there.
    package mutating func skip(exactly text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard position &+ length <= count, equalBytes(base + position, text.utf8Start, length) else { return false }
        position &+= length
        return true
    }
}
