// Strings and names between their quotes. The reader has checked them; they are unescaped only when needed.

internal import CText

struct JSONText {
    /// Offsets of the bytes between the quotes.
    let start: Int
    let end: Int
    let hasEscapes: Bool
    let isASCII: Bool

    @inline(__always)
    func string(in base: UnsafePointer<UInt8>) -> String {
        let raw = UnsafeBufferPointer(start: base + start, count: end &- start)
        guard hasEscapes, let start = raw.baseAddress else {
            guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
                // Checks the bytes once more, which the function below does not.
                return String(decoding: raw, as: UTF8.self)
            }
            // Safe: the scan has checked the bytes, or an earlier one has (`JSONReader.isKnownUTF8`).
            return String(copying: UTF8Span(unchecked: raw.span, isKnownASCII: isASCII))
        }
        // An escape is never shorter than its character, so the raw length is enough.
        return String(unsafeUninitializedCapacity: raw.count) { target in
            target.baseAddress.map { text_unescape(start, raw.count, $0) } ?? 0
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
