// Strings and names between their quotes. The reader has checked them; they are unescaped only when needed.

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
            // Safe: the scan has checked the bytes.
            return String(copying: UTF8Span(unchecked: raw.span, isKnownASCII: isASCII))
        }
        return String(unsafeUninitializedCapacity: raw.count) { unescape(raw, into: $0) }
    }

    /// An escape is never shorter than its character, so a target of the raw length is large enough.
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

    /// The value of four digits that the scan has checked.
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

/// The name of a member in the text. A String is made only when needed.
package struct JSONKey {
    let base: UnsafePointer<UInt8>
    let text: JSONText

    /// The length in bytes, as written.
    package var length: Int { text.end &- text.start }

    package var hasEscapes: Bool { text.hasEscapes }

    /// The first byte of the name; nil if it is empty.
    package var first: UInt8? { hasEscapes ? try? string().utf8.first : length > 0 ? base[text.start] : nil }

    /// The characters as one number, the first one lowest. 0 if the name is empty, has more than eight characters, or has
    /// escapes.
    package var word: UInt64 {
        guard length <= 8, !text.hasEscapes else { return 0 }
        var word: UInt64 = 0
        for index in 0..<length { word |= UInt64(base[text.start &+ index]) &<< UInt64(index &* 8) }
        return word
    }

    package func matches(_ name: StaticString) -> Bool {
        matches(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    }

    package func matches(_ name: String) -> Bool {
        var name = name
        return name.withUTF8 { matches($0) }
    }

    private func matches(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !text.hasEscapes else { return matchesWithEscapes(name) }
        guard name.count == length, let start = name.baseAddress else { return name.count == length }
        return equalBytes(base + text.start, start, length)
    }

    @inline(never)
    private func matchesWithEscapes(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        // An escaped byte takes at most six characters. A name may be as long as a message, and is compared several times.
        guard length <= name.count &* 6 else { return false }
        return (try? string()).map { $0.utf8.elementsEqual(name) } ?? false
    }

    package func string() throws(JSONError) -> String { text.string(in: base) }
}
