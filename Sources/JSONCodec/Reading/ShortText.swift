// Receives a short plain text where it stands and makes the String of it in a few steps. A String of this length lies in its
// own sixteen bytes, and is made slowly by everything that also makes longer ones.

enum ShortText {
    static let longest = 15
    /// How many bytes are looked at.
    static let room = 16

    /// Of so many ASCII characters, at most the longest. There must be room behind the start.
    @inline(__always)
    static func string(_ base: UnsafePointer<UInt8>, _ length: Int) -> String? {
        guard isLaidOutAsKnown else { return nil }
        let bits = UInt64(truncatingIfNeeded: length) &* 8
        var (first, second) = (EightBytes(base, at: 0).word, EightBytes(base, at: 8).word)
        if length < 8 {
            first &= (1 &<< bits) &- 1
            second = 0
        } else {
            second &= (1 &<< (bits &- 64)) &- 1
        }
        return unsafeBitCast((first, second | mark | UInt64(truncatingIfNeeded: length) &<< 56), to: String.self)
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
