// Reads strings and names at the cursor: finds their ends, checks them, and returns their places in the text.

internal import CText

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

    /// Longer strings are read with vectors, which begin more slowly.
    private static let shortLength = 32

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
            if at &- start > shortLength { return 0 }
        }
        return 0
    }

    @inline(never)
    private mutating func scanLongString() throws(JSONError) -> JSONText {
        let start = position &+ 1
        var scan = text_scan(at: start, has_escapes: false, has_others: false)
        while true {
            scan = text_pass(base, count, scan)
            guard scan.at < count else { throw JSONError(offset: count, reason: .unexpectedEnd) }
            let byte = base[scan.at]
            if byte == UInt8(ascii: "\"") { break }
            guard byte == UInt8(ascii: "\\") else {
                throw JSONError(offset: scan.at, reason: .controlCharacterInString(byte))
            }
            scan.at = try endOfLoneSurrogate(scan.at)
            scan.has_escapes = true
        }
        position = scan.at &+ 1
        if scan.has_others, !isKnownUTF8 {
            let valid = start &+ text_valid_utf8(base + start, scan.at &- start)
            guard valid == scan.at else { throw JSONError(offset: valid, reason: .invalidUTF8) }
        }
        return JSONText(start: start, end: scan.at, hasEscapes: scan.has_escapes, isASCII: !scan.has_others)
    }

    /// The offset behind half a surrogate pair, if that is allowed and stands at an offset. Throws for anything else that begins
    /// with a backslash and is no escape of a whole character.
    private func endOfLoneSurrogate(_ start: Int) throws(JSONError) -> Int {
        guard start &+ 1 < count else { throw JSONError(offset: count, reason: .unexpectedEnd) }
        guard base[start &+ 1] == UInt8(ascii: "u") else { throw JSONError(offset: start, reason: .invalidEscape) }
        let unit = try escapedUnit(start)
        let end = start &+ 6
        // The digits of a pair's other half are to blame if they are wrong.
        if unit & 0xFC00 == 0xD800, end &+ 1 < count, base[end] == UInt8(ascii: "\\"),
            base[end &+ 1] == UInt8(ascii: "u")
        {
            _ = try escapedUnit(end)
        }
        guard passesLoneSurrogates else { throw JSONError(offset: start, reason: .loneSurrogate) }
        return end
    }

    /// The four digits of the `\u` sequence at an offset.
    private func escapedUnit(_ start: Int) throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for at in start &+ 2..<start &+ 6 {
            guard at < count else { throw JSONError(offset: count, reason: .unexpectedEnd) }
            guard let digit = Self.hexDigit(base[at]) else {
                throw JSONError(offset: start, reason: .invalidEscape)
            }
            unit = unit &<< 4 | UInt16(digit)
        }
        return unit
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte &- UInt8(ascii: "a") &+ 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte &- UInt8(ascii: "A") &+ 10
        default: nil
        }
    }
}
