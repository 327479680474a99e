// Writes strings in quotes, with the escapes that Foundation writes by default.

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
        guard clean == text.count else {
            commit(clean &+ 1)
            appendEscaped(UnsafeBufferPointer(rebasing: text[clean...]))
            return
        }
        target[clean &+ 1] = UInt8(ascii: "\"")
        commit(clean &+ 2)
    }

    /// Room for the quotes, or for bytes that are written behind a short text and do not count.
    private static let roomAround = 8

    /// Copies up to the first byte that needs an escape and returns how many bytes that were.
    @inline(__always)
    private static func copyClean(
        _ source: UnsafePointer<UInt8>, _ count: Int, to target: UnsafeMutablePointer<UInt8>
    ) -> Int {
        var at = 0
        while at &+ 8 <= count {
            let eight = EightBytes(source, at: at)
            let marks = eight.escapes
            UnsafeMutableRawPointer(target).storeBytes(of: eight.word.littleEndian, toByteOffset: at, as: UInt64.self)
            if marks != 0 { return at &+ EightBytes.count(before: marks) }
            at &+= 8
            guard at == LongText.patience else { continue }
            at = LongText.copyClean(source, from: at, to: count, into: target)
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
        let marks = eight.escapes
        return marks == 0 ? count : min(count, at &+ EightBytes.count(before: marks))
    }

    /// Writes from the first byte that needs an escape to the closing quote.
    @inline(never)
    private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
        var rest = text
        while let first = rest.first {
            if Self.needsEscape(first) {
                appendEscape(of: first)
                rest = UnsafeBufferPointer(rebasing: rest.dropFirst())
            } else if let source = rest.baseAddress {
                let clean = Self.copyClean(source, rest.count, to: reserve(rest.count &+ Self.roomAround))
                commit(clean)
                rest = UnsafeBufferPointer(rebasing: rest.dropFirst(clean))
            }
        }
        append(UInt8(ascii: "\""))
    }

    @inline(__always)
    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "/")
    }

    private mutating func appendEscape(of byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0D: append(UInt8(ascii: "r"))
        case 0x20...: append(byte)
        default:
            append(byte < 0x10 ? "u000" : "u001")
            let digit = byte & 0xF
            append(digit < 10 ? UInt8(ascii: "0") &+ digit : UInt8(ascii: "a") &+ digit &- 10)
        }
    }
}
