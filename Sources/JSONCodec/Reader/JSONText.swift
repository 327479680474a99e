// A string as it stands between its quotes: found and checked by the scan, unescaped only when someone asks.

struct JSONText {
    /// Offsets of the bytes between the quotes.
    let start: Int
    let end: Int
    let hasEscapes: Bool
    let isASCII: Bool

    @inline(__always)
    func string(in base: UnsafePointer<UInt8>) -> String {
        let raw = UnsafeBufferPointer(start: base + start, count: end &- start)
        guard hasEscapes else {
            // The scan has checked the bytes already.
            return String(copying: UTF8Span(unchecked: raw.span, isKnownASCII: isASCII))
        }
        return String(unsafeUninitializedCapacity: raw.count) { unescape(raw, into: $0) }
    }

    /// Escapes are never shorter than what they stand for, so the raw length is room enough.
    private func unescape(_ raw: UnsafeBufferPointer<UInt8>, into target: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var from = 0
        var to = 0
        func put(_ byte: UInt8) {
            target[to] = byte
            to &+= 1
        }
        while from < raw.count {
            let byte = raw[from]
            from &+= 1
            guard byte == UInt8(ascii: "\\") else {
                put(byte)
                continue
            }
            let name = raw[from]
            from &+= 1
            switch name {
            case UInt8(ascii: "b"): put(0x08)
            case UInt8(ascii: "f"): put(0x0C)
            case UInt8(ascii: "n"): put(0x0A)
            case UInt8(ascii: "r"): put(0x0D)
            case UInt8(ascii: "t"): put(0x09)
            case UInt8(ascii: "u"):
                var unit = UInt32(Self.hex(raw, at: from))
                from &+= 4
                if unit & 0xFC00 == 0xD800 {
                    let low = UInt32(Self.hex(raw, at: from &+ 2))
                    from &+= 6
                    unit = 0x1_0000 &+ (unit & 0x3FF) &<< 10 &+ (low & 0x3FF)
                }
                for byte in UTF8.encode(UnicodeScalar(unit) ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter {
                    put(byte)
                }
            default: put(name)
            }
        }
        return to
    }

    /// Four digits that the scan has checked.
    private static func hex(_ raw: UnsafeBufferPointer<UInt8>, at offset: Int) -> UInt16 {
        var value: UInt16 = 0
        for index in offset..<offset &+ 4 { value = value &<< 4 | UInt16(hexDigit(raw[index]) ?? 0) }
        return value
    }

    static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte &- UInt8(ascii: "a") &+ 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte &- UInt8(ascii: "A") &+ 10
        default: nil
        }
    }
}

extension JSONReader {
    /// From the opening quote to behind the closing one; escapes, control characters and UTF-8 are checked.
    @inline(__always)
    mutating func scanString() throws(JSONError) -> JSONText {
        if let plain = plainText() { return plain }
        return try scanLongString()
    }

    /// A string that is not long and has nothing in it to look at again: the usual case. Nil, with the cursor unmoved, for
    /// any other, and for those that end with the text.
    @inline(__always)
    mutating func plainText() -> JSONText? {
        let start = position &+ 1
        var at = start
        var seen: UInt64 = 0
        let bound = min(count, start &+ LongText.patience &+ 8) &- 8
        while at <= bound {
            let eight = EightBytes(base, at: at)
            let stops = eight.stops
            if stops != 0 {
                seen |= eight.bytes(before: stops)
                at &+= EightBytes.count(before: stops)
                guard seen & EightBytes.highBits == 0, base[at] == UInt8(ascii: "\"") else { return nil }
                position = at &+ 1
                return JSONText(start: start, end: at, hasEscapes: false, isASCII: true)
            }
            seen |= eight.word
            at &+= 8
        }
        return nil
    }

    @inline(never)
    mutating func scanLongString() throws(JSONError) -> JSONText {
        let start = position &+ 1
        var at = start
        /// Where what has no escapes began.
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
