// Receives a short plain text where it stands and makes the String of it in a few steps. A String of this length lies in its
// own sixteen bytes, and is made slowly by everything that also makes longer ones.

enum ShortText {
    /// Of less than sixteen ASCII characters, the first one lowest, and zeros behind them.
    @inline(__always)
    static func string(_ first: UInt64, _ second: UInt64, _ length: Int) -> String? {
        guard isLaidOutAsKnown else { return nil }
        var bits = (first, second | mark | UInt64(truncatingIfNeeded: length) &<< 56)
        // Moved out: nobody else counts on it, and a copy would be counted.
        return withUnsafeMutableBytes(of: &bits) { $0.baseAddress?.bindMemory(to: String.self, capacity: 1).move() }
    }

    /// Of a String whose characters are its own and all ASCII.
    private static let mark: UInt64 = 0xE0 << 56

    /// Whether Strings are what they are taken for here. The compiler knows, and nothing is asked when the program runs.
    @inline(__always)
    private static var isLaidOutAsKnown: Bool {
        MemoryLayout<String>.size == 16 && bitsOfName("abcdefghijk") == (0x6867_6665_6463_6261, 0xEB00_0000_006B_6A69)
            && bitsOfName("abc") == (0x0063_6261, 0xE300_0000_0000_0000)
    }
}

extension JSONReader {
    /// From the opening quote to behind the closing one. Nil, with the cursor unmoved, for a text that is not short or has
    /// anything in it to look at again, and near the end.
    @inline(__always)
    mutating func shortText() -> String? {
        let start = position &+ 1
        guard start &+ 16 <= count else { return nil }
        let (first, second) = (EightBytes(base, at: start), EightBytes(base, at: start &+ 8))
        if first.stops != 0 { return endShortText(start, first.bytes(before: first.stops), 0, first.stops, 0) }
        guard second.stops != 0 else { return nil }
        return endShortText(start, first.word, second.bytes(before: second.stops), second.stops, 8)
    }

    /// The mark of what ends the text is the lowest one, so many bytes behind the start and more.
    @inline(__always)
    private mutating func endShortText(
        _ start: Int, _ first: UInt64, _ second: UInt64, _ marks: UInt64, _ passed: Int
    ) -> String? {
        let length = passed &+ EightBytes.count(before: marks)
        guard (first | second) & EightBytes.highBits == 0, base[start &+ length] == UInt8(ascii: "\""),
            let text = ShortText.string(first, second, length)
        else { return nil }
        position = start &+ length &+ 1
        return text
    }

    /// Any other. Elsewhere, since it needs much more room than the short ones.
    @inline(never)
    mutating func longerText() throws(JSONError) -> String {
        if let plain = plainText() { return plain.string(in: base) }
        return try scanLongString().string(in: base)
    }
}
