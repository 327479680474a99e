// A request or a reply spelled exactly as `MessageEncoder` spells it: the members in its order and nothing between them.
// Nearly every message is, and is read here in a straight line; what differs anywhere is nobody's fault and left to
// `Envelope`, from its first byte, so that there is one judge of what is wrong with a message.

internal import JSONCodec

struct PlainEnvelope {
    private let text: UnsafeRawBufferPointer
    private let base: UnsafeRawPointer
    private let maximumDepth: Int
    private var at = 0

    /// Nil when there is nothing to read.
    init?(_ text: UnsafeRawBufferPointer, maximumDepth: Int) {
        guard let base = text.baseAddress else { return nil }
        self.text = text
        self.base = base
        self.maximumDepth = maximumDepth
    }

    /// Nil, whatever the reason, for a message that `Envelope` is to read.
    @inline(__always)
    mutating func message(in frame: Bytes) -> Message? {
        guard pass(#"{"jsonrpc":"2.0","#) else { return nil }
        if pass(#""method":""#) { return requestBehindOpening().map { .request(Request($0, in: frame)) } }
        return reply(behind: #""id":"#).map { .result(id: .integer($0.number), value: $0.value(in: frame)) }
    }

    /// Nil, whatever the reason, for what is not a request or is to be read by `Envelope`.
    @inline(__always)
    mutating func request() -> PlainRequest? {
        pass(#"{"jsonrpc":"2.0","method":""#) ? requestBehindOpening() : nil
    }

    /// Nil, whatever the reason, for what is not a reply or is to be read by `Envelope`.
    @inline(__always)
    mutating func reply() -> PlainReply? { reply(behind: #"{"jsonrpc":"2.0","id":"#) }

    @inline(__always)
    private mutating func requestBehindOpening() -> PlainRequest? {
        let start = at
        guard passName() else { return nil }
        let name = start..<at
        guard pass(#"","params":"#), let params = passParams() else { return nil }
        var (timeout, number): (Int64?, Int64?) = (nil, nil)
        var id: Int64?
        if pass(#","timeout":"#) {
            timeout = passInteger()
            if timeout == nil { return nil }
        }
        if pass(#","number":"#) {
            number = passInteger()
            if number == nil { return nil }
        }
        if pass(#","id":"#) {
            id = passInteger()
            if id == nil { return nil }
        }
        guard isAtEnd else { return nil }
        return PlainRequest(id: id, name: name, arguments: params, timeout: timeout, number: number)
    }

    @inline(__always)
    private mutating func reply(behind opening: StaticString) -> PlainReply? {
        guard pass(opening), let id = passInteger(), pass(#","result":"#) else { return nil }
        let start = at
        if passInteger() == nil || !isAtEnd {
            at = start
            guard passValue(levels: maximumDepth), isAtEnd else { return nil }
        }
        return PlainReply(number: id, start: start, end: at)
    }

    /// Whether only the brace is left that closes the message.
    @inline(__always)
    private var isAtEnd: Bool { at &+ 1 == text.count && byte == UInt8(ascii: "}") }

    /// The byte at the cursor; 0, which stands nowhere in JSON, behind the last.
    @inline(__always)
    private var byte: UInt8 { at < text.count ? base.load(fromByteOffset: at, as: UInt8.self) : 0 }

    // MARK: Passing over; what returns false or nil may have moved the cursor, except `pass`

    /// This text, which has four bytes at least.
    @inline(__always)
    private mutating func pass(_ expected: StaticString) -> Bool {
        let length = expected.utf8CodeUnitCount
        guard at &+ length <= text.count,
            length < 8 ? stands(expected, as: UInt32.self) : stands(expected, as: UInt64.self)
        else { return false }
        at &+= length
        return true
    }

    /// Compares a word at a time, the last one with some of the bytes before it once more.
    @inline(__always)
    private func stands<Word: FixedWidthInteger & BitwiseCopyable>(_ expected: StaticString, as _: Word.Type) -> Bool {
        let last = expected.utf8CodeUnitCount &- MemoryLayout<Word>.size
        var offset = 0
        while offset < last {
            guard isSame(expected, offset, Word.self) else { return false }
            offset &+= MemoryLayout<Word>.size
        }
        return isSame(expected, last, Word.self)
    }

    @inline(__always)
    private func isSame<Word: FixedWidthInteger & BitwiseCopyable>(
        _ expected: StaticString, _ offset: Int, _: Word.Type
    ) -> Bool {
        base.loadUnaligned(fromByteOffset: at &+ offset, as: Word.self)
            == UnsafeRawPointer(expected.utf8Start).loadUnaligned(fromByteOffset: offset, as: Word.self)
    }

    /// Up to the closing quote, if all before it is ASCII without escapes and control characters.
    @inline(__always)
    private mutating func passName() -> Bool {
        while at &+ 8 <= text.count {
            let eight = EightBytes(base, at: at)
            // What is not ASCII stops as well.
            let stops = eight.stops | eight.word & EightBytes.highBits
            guard stops == 0 else {
                at &+= EightBytes.count(before: stops)
                return byte == UInt8(ascii: "\"")
            }
            at &+= 8
        }
        return false
    }

    /// At most eighteen digits; few of them all at once.
    @inline(__always)
    private mutating func passInteger() -> Int64? {
        let eight = EightBytes(base, at: at, of: text.count)
        let count = eight.digitCount
        guard count < 8 else { return passLongInteger() }
        guard count > 0, count == 1 || byte != UInt8(ascii: "0") else { return nil }
        at &+= count
        return Int64(truncatingIfNeeded: eight.number(ofDigits: count))
    }

    /// The same one by one, for more than one.
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

    /// An array or an object; an empty range when nothing is in it.
    @inline(__always)
    private mutating func passParams() -> Range<Int>? {
        let start = at
        if passIntegers() { return start..<at }
        at = start
        guard byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") else { return nil }
        guard at &+ 1 < text.count, base.load(fromByteOffset: at &+ 1, as: UInt8.self) > 0x20,
            passValue(levels: maximumDepth + 1)
        else { return nil }
        return at &- start == 2 ? 0..<0 : start..<at
    }

    /// An array of short integers, one at least.
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

    /// Any JSON value of at most this many levels, without blanks before it.
    private mutating func passValue(levels: Int) -> Bool {
        guard byte > 0x20 else { return false }
        var reader = JSONReader(text, at: at, depth: 1)
        reader.limitDepth(to: levels)
        guard (try? reader.skipValue()) != nil else { return false }
        at = reader.position
        return true
    }
}

package struct PlainReply: Sendable {
    package let number: Int64
    let start: Int
    let end: Int

    /// JSON text.
    /// - Parameter frame: the one that the reply was read from.
    @inline(__always)
    func value(in frame: Bytes) -> Bytes { Bytes(start: start, end: end, of: frame) }

    /// The same for a caller that has no more use for the frame.
    package func value(insteadOf frame: consuming Bytes) -> Bytes { Bytes(start: start, end: end, of: frame) }
}

package struct PlainRequest: Sendable {
    /// Nil for a notification.
    let id: Int64?
    let name: Range<Int>
    let arguments: Range<Int>
    let timeout: Int64?
    let number: Int64?

    /// Whether an answer is owed for it.
    package var isAnswered: Bool { id != nil }
}

extension Request {
    /// - Parameter frame: the one that it was read from.
    @inline(__always)
    package init(_ plain: PlainRequest, in frame: consuming Bytes) {
        self.init(
            id: plain.id.map { .integer($0) }, in: frame, method: plain.name, params: plain.arguments,
            timeout: plain.timeout, number: plain.number)
    }
}
