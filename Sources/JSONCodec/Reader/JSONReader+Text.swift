// Reads strings and names at the cursor: finds their ends, checks them, and returns their places in the text.

extension JSONReader {
    /// Reads from the opening quote to behind the closing one. Checks escapes, control characters and UTF-8.
    @inline(__always)
    mutating func scanString() throws(JSONError) -> JSONText {
        let start = position &+ 1
        let end = Self.endOfPlainText(base, position, count &- 9)
        guard end == 0 else {
            position = end
            return JSONText(start: start, end: end &- 1, hasEscapes: false, isASCII: true)
        }
        return try scanLongString()
    }

    /// Returns the offset behind the closing quote of a short string of plain ASCII without escapes, the usual case. Returns 0
    /// for any other, and if less than nine bytes follow the bound.
    @inline(__always)
    static func endOfPlainText(_ base: UnsafePointer<UInt8>, _ start: Int, _ bound: Int) -> Int {
        var at = start &+ 1
        while at <= bound {
            let eight = EightBytes(base, at: at)
            // Stops at bytes above ASCII too.
            let stops = eight.stops | eight.word & EightBytes.highBits
            guard stops == 0 else {
                at &+= EightBytes.count(before: stops)
                return base[at] == UInt8(ascii: "\"") ? at &+ 1 : 0
            }
            at &+= 8
            if at &- start > LongText.patience { return 0 }
        }
        return 0
    }

    @inline(never)
    private mutating func scanLongString() throws(JSONError) -> JSONText {
        let start = position &+ 1
        var at = start
        // The start of the present run without escapes.
        var run = start
        var hasEscapes = false
        var seen: UInt64 = 0
        while true {
            while at &+ 8 <= count {
                let eight = EightBytes(base, at: at)
                let stops = eight.stops
                guard stops == 0 else {
                    seen |= eight.bytes(before: stops)
                    at &+= EightBytes.count(before: stops)
                    break
                }
                seen |= eight.word
                at &+= 8
                guard at == run &+ LongText.patience else { continue }
                let passed = LongText.passOver(base, from: at, to: count)
                seen |= passed.seen
                at = passed.at
            }
            guard at < count else { throw JSONError(offset: count, reason: .unexpectedEnd) }
            let byte = base[at]
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                at = try endOfEscape(at)
                run = at
            } else if byte < 0x20 {
                throw JSONError(offset: at, reason: .controlCharacterInString(byte))
            } else {
                seen |= UInt64(byte)
                at &+= 1
            }
        }
        position = at &+ 1
        let isASCII = seen & EightBytes.highBits == 0
        if !isASCII { try checkUTF8(start..<at) }
        return JSONText(start: start, end: at, hasEscapes: hasEscapes, isASCII: isASCII)
    }

    private func checkUTF8(_ range: Range<Int>) throws(JSONError) {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: UnsafeBufferPointer(start: base + range.lowerBound, count: range.count).span)
        } catch {
            throw JSONError(offset: range.lowerBound &+ error.byteOffsets.lowerBound, reason: .invalidUTF8)
        }
    }

    /// The offset behind the escape sequence whose backslash stands at `start`.
    private func endOfEscape(_ start: Int) throws(JSONError) -> Int {
        guard start &+ 1 < count else { throw JSONError(offset: count, reason: .unexpectedEnd) }
        switch base[start &+ 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return start &+ 2
        case UInt8(ascii: "u"): break
        default: throw JSONError(offset: start, reason: .invalidEscape)
        }
        let unit = try escapedUnit(start)
        if unit & 0xF800 != 0xD800 { return start &+ 6 }
        guard unit & 0xFC00 == 0xD800, start &+ 7 < count, base[start &+ 6] == UInt8(ascii: "\\"),
            base[start &+ 7] == UInt8(ascii: "u"), try escapedUnit(start &+ 6) & 0xFC00 == 0xDC00
        else {
            guard passesLoneSurrogates else { throw JSONError(offset: start, reason: .loneSurrogate) }
            return start &+ 6
        }
        return start &+ 12
    }

    /// The four digits of the `\u` sequence at an offset.
    private func escapedUnit(_ start: Int) throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for at in start &+ 2..<start &+ 6 {
            guard at < count else { throw JSONError(offset: count, reason: .unexpectedEnd) }
            guard let digit = JSONText.hexDigit(base[at]) else {
                throw JSONError(offset: start, reason: .invalidEscape)
            }
            unit = unit &<< 4 | UInt16(digit)
        }
        return unit
    }
}
