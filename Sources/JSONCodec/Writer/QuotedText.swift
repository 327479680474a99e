// Writes strings in quotes. Only quotes, backslashes and control characters get an escape.

internal import CText

extension OutputBuffer {
    @inline(__always)
    mutating func append(quoted text: String) {
        // Works without a copy for any string that Swift has made itself.
        if text.utf8.withContiguousStorageIfAvailable({ append(quoted: $0) }) == nil { append(quotedCopy: text) }
    }

    @inline(never)
    private mutating func append(quotedCopy text: String) {
        var copy = text
        copy.withUTF8 { append(quoted: $0) }
    }

    @inline(__always)
    mutating func append(quoted text: UnsafeBufferPointer<UInt8>) {
        let target = reserve(text.count &+ Self.roomAround)
        target.pointee = UInt8(ascii: "\"")
        guard let source = text.baseAddress else {
            target[1] = UInt8(ascii: "\"")
            commit(2)
            return
        }
        let clean = Self.copyClean(source, text.count, to: target + 1)
        commit(clean &+ 1)
        guard clean == text.count else { return appendEscaped(source, from: clean, text.count) }
        target[clean &+ 1] = UInt8(ascii: "\"")
        commit(1)
    }

    /// Room for the quotes, or for bytes that are written behind a short text and do not count.
    private static let roomAround = 8
    /// Longer texts are copied with vectors, which begin more slowly.
    private static let shortLength = 64

    /// Copies a short text up to the first byte that needs an escape and returns how many bytes that were. Of a longer text only
    /// the beginning.
    @inline(__always)
    private static func copyClean(
        _ source: UnsafePointer<UInt8>, _ count: Int, to target: UnsafeMutablePointer<UInt8>
    ) -> Int {
        var at = 0
        while at &+ 8 <= count {
            let eight = EightBytes(source, at: at)
            let marks = eight.stops
            UnsafeMutableRawPointer(target).storeBytes(of: eight.word.littleEndian, toByteOffset: at, as: UInt64.self)
            if marks != 0 { return at &+ EightBytes.count(before: marks) }
            at &+= 8
            if at == shortLength { return at }
        }
        guard at < count else { return at }
        // Less than eight bytes are left. Together with bytes before them, if there are any, they make eight again.
        guard count < 8 else { return copyLast(EightBytes(source, at: count &- 8), count &- 8, count, target) }
        return copyLast(EightBytes(source, count: count), 0, count, target)
    }

    @inline(__always)
    private static func copyLast(
        _ eight: EightBytes, _ at: Int, _ count: Int, _ target: UnsafeMutablePointer<UInt8>
    ) -> Int {
        UnsafeMutableRawPointer(target).storeBytes(of: eight.word.littleEndian, toByteOffset: at, as: UInt64.self)
        // The zeros behind a short text are marked too.
        let marks = eight.stops
        return marks == 0 ? count : min(count, at &+ EightBytes.count(before: marks))
    }

    /// Writes the text from an offset on, and the closing quote.
    @inline(never)
    private mutating func appendEscaped(_ source: UnsafePointer<UInt8>, from start: Int, _ count: Int) {
        var at = start
        while at < count {
            let target = reserve(count &- at &+ Int(TEXT_ROOM))
            commit(text_escape(source, count, &at, target, capacity &- self.count))
        }
        append(UInt8(ascii: "\""))
    }
}
