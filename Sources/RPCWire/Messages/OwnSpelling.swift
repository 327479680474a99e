// Reads a request or a result that is spelled exactly as `MessageWriter` spells it: with its order of members, and no blanks.
// Nearly all messages are, so this is the fast path. Any other message is read by `Envelope`, from its first byte.

internal import JSONCodec

/// A cursor over one message. `MessageReader` passes the opening, and then asks for the parts behind it.
struct OwnSpelling {
    typealias RequestParts = (
        id: Int64?, method: Range<Int>, params: Range<Int>, timeout: Int64?, mark: RequestMark
    )

    private let base: UnsafeRawPointer
    private let count: Int
    private let maximumDepth: Int
    private var at = 0

    /// Nil for an empty text.
    @inline(__always)
    init?(_ text: UnsafeRawBufferPointer, maximumDepth: Int) {
        guard let base = text.baseAddress else { return nil }
        self.base = base
        count = text.count
        self.maximumDepth = maximumDepth
    }

    /// Returns the parts of a request, with an empty range if there are no parameters. Nil for a message that `Envelope` must
    /// read, such as one with metadata: only those that use it pay for it.
    @inline(__always)
    mutating func request() -> RequestParts? {
        let start = at
        guard passName() else { return nil }
        let method = range(from: start)
        guard pass(#"","params":"#), let params = passParams() else { return nil }
        var (timeout, id, mark): (Int64?, Int64?, RequestMark) = (nil, nil, .none)
        if pass(#","timeout":"#) {
            timeout = passInteger()
            if timeout == nil { return nil }
        }
        if pass(#","number":"#) {
            guard let number = passInteger() else { return nil }
            mark = .post(number)
        } else if pass(#","inside":"#) {
            guard let number = passInteger() else { return nil }
            mark = .inside(number)
        } else if pass(#","transfer":"#) {
            guard let number = passInteger() else { return nil }
            mark = .transfer(number)
        }
        if pass(#","id":"#) {
            id = passInteger()
            if id == nil { return nil }
        }
        return isAtEnd ? (id, method, params, timeout, mark) : nil
    }

    /// Returns the parts of a result. Nil for a message that `Envelope` must read.
    @inline(__always)
    mutating func result() -> (id: Int64, value: Range<Int>)? {
        guard let id = passInteger(), pass(#","result":"#) else { return nil }
        let start = at
        if passInteger() == nil || !isAtEnd {
            at = start
            guard passValue(levels: maximumDepth), isAtEnd else { return nil }
        }
        return (id, range(from: start))
    }

    /// Whether only the closing brace of the message is left.
    @inline(__always)
    private var isAtEnd: Bool { at &+ 1 == count && byte == UInt8(ascii: "}") }

    /// The range from `start` to the cursor.
    @inline(__always)
    private func range(from start: Int) -> Range<Int> { Range(uncheckedBounds: (start, at)) }

    /// The byte at the cursor; 0 behind the end. A 0 byte occurs nowhere in JSON.
    @inline(__always)
    private var byte: UInt8 { at < count ? base.load(fromByteOffset: at, as: UInt8.self) : 0 }

    // MARK: Passing over text. A function that returns false or nil may have moved the cursor, except `pass`

    /// Passes this text, which must have at least four bytes. Does not move the cursor if another text is there.
    @inline(__always)
    mutating func pass(_ expected: StaticString) -> Bool {
        let length = expected.utf8CodeUnitCount
        guard at &+ length <= count,
            length < 8 ? stands(expected, as: UInt32.self) : stands(expected, as: UInt64.self)
        else { return false }
        at &+= length
        return true
    }

    /// Compares one word at a time. The last word overlaps the one before it.
    @inline(__always)
    private func stands<Word: FixedWidthInteger & BitwiseCopyable>(_ expected: StaticString, as _: Word.Type) -> Bool {
        let last = expected.utf8CodeUnitCount &- MemoryLayout<Word>.size
        var offset = 0
        while true {
            let word = UnsafeRawPointer(expected.utf8Start).loadUnaligned(fromByteOffset: offset, as: Word.self)
            guard base.loadUnaligned(fromByteOffset: at &+ offset, as: Word.self) == word else { return false }
            if offset == last { return true }
            offset = min(offset &+ MemoryLayout<Word>.size, last)
        }
    }

    /// Passes a name up to its closing quote. False if it has bytes that are not ASCII, escapes or control characters.
    @inline(__always)
    private mutating func passName() -> Bool {
        while at &+ 8 <= count {
            let eight = EightBytes(base, at: at)
            // Bytes that are not ASCII stop the search too.
            let stops = eight.stops | eight.word & EightBytes.highBits
            guard stops == 0 else {
                at &+= EightBytes.count(before: stops)
                return byte == UInt8(ascii: "\"")
            }
            at &+= 8
        }
        return false
    }

    /// Passes an integer of at most eighteen digits. Fewer than eight digits are read in one step.
    @inline(__always)
    private mutating func passInteger() -> Int64? {
        let eight = EightBytes(base, at: at, of: count)
        let digits = eight.digitCount
        guard digits < 8 else { return passLongInteger() }
        guard digits > 0, digits == 1 || UInt8(truncatingIfNeeded: eight.word) != UInt8(ascii: "0") else { return nil }
        at &+= digits
        return Int64(truncatingIfNeeded: eight.number(ofDigits: digits))
    }

    /// The same, digit by digit, for longer integers.
    @inline(never)
    private mutating func passLongInteger() -> Int64? {
        guard byte != UInt8(ascii: "0") else { return nil }
        let start = at
        var value: Int64 = 0
        while at &- start < 19 {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return value }
            value = value &* 10 &+ Int64(digit)
            at &+= 1
        }
        return nil
    }

    /// Passes an array or an object. Returns an empty range if nothing is in it.
    @inline(__always)
    private mutating func passParams() -> Range<Int>? {
        let start = at
        if passIntegers() { return range(from: start) }
        at = start
        guard byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") else { return nil }
        guard at &+ 1 < count, base.load(fromByteOffset: at &+ 1, as: UInt8.self) > 0x20,
            passValue(levels: maximumDepth + 1)
        else { return nil }
        return at &- start == 2 ? 0..<0 : range(from: start)
    }

    /// Passes an array of at least one integer.
    @inline(__always)
    private mutating func passIntegers() -> Bool {
        guard byte == UInt8(ascii: "[") else { return false }
        repeat {
            at &+= 1
            if byte == UInt8(ascii: "-") { at &+= 1 }
            guard passInteger() != nil else { return false }
        } while byte == UInt8(ascii: ",")
        guard byte == UInt8(ascii: "]") else { return false }
        at &+= 1
        return true
    }

    /// Passes any JSON value of at most `levels` levels that has no blanks before it.
    private mutating func passValue(levels: Int) -> Bool {
        guard byte > 0x20 else { return false }
        var reader = JSONReader(UnsafeRawBufferPointer(start: base, count: count), at: at, depth: 1)
        reader.limitDepth(to: levels)
        guard (try? reader.skipValue()) != nil else { return false }
        at = reader.position
        return true
    }
}
