// Reads and writes data as Foundation's coder does by default: as a base64 string.

enum Base64 {
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

    static func write(_ bytes: some Sequence<UInt8>, to output: inout OutputBuffer) {
        let done: Void? = bytes.withContiguousStorageIfAvailable { write($0, to: &output) }
        if done == nil { Array(bytes).withUnsafeBufferPointer { write($0, to: &output) } }
    }

    private static func write(_ bytes: UnsafeBufferPointer<UInt8>, to output: inout OutputBuffer) {
        let target = output.reserve(bytes.count / 3 * 4 + 6)
        var to = 0
        func put(_ byte: UInt8) {
            target[to] = byte
            to &+= 1
        }
        put(UInt8(ascii: "\""))
        var from = 0
        while from < bytes.count {
            let taken = min(3, bytes.count &- from)
            var group = UInt32(bytes[from]) &<< 16
            if taken > 1 { group |= UInt32(bytes[from &+ 1]) &<< 8 }
            if taken > 2 { group |= UInt32(bytes[from &+ 2]) }
            for index in 0..<4 {
                let sixBits = Int(group &>> UInt32(18 &- 6 &* index)) & 63
                put(index <= taken ? alphabet.utf8Start[sixBits] : UInt8(ascii: "="))
            }
            from &+= 3
        }
        put(UInt8(ascii: "\""))
        output.commit(to)
    }

    /// Returns nil unless the text consists of whole groups of four characters with proper padding.
    static func bytes(of text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { digits in
            guard digits.count % 4 == 0 else { return nil }
            let padding = digits.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
            var seen: UInt8 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: digits.count / 4 * 3) { target, count in
                values.withUnsafeBufferPointer { values in
                    for group in 0..<digits.count / 4 {
                        var bits: UInt32 = 0
                        for at in group &* 4..<group &* 4 &+ 4 {
                            let value = at < digits.count &- padding ? values[Int(digits[at])] : 0
                            seen |= value
                            bits = bits &<< 6 | UInt32(value & 63)
                        }
                        target[count] = UInt8(truncatingIfNeeded: bits &>> 16)
                        target[count &+ 1] = UInt8(truncatingIfNeeded: bits &>> 8)
                        target[count &+ 2] = UInt8(truncatingIfNeeded: bits)
                        count &+= 3
                    }
                }
                count &-= padding
            }
            return seen < 64 ? bytes : nil
        }
    }

    /// The value of each digit; 255 for bytes that are not digits.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for sixBits in 0..<64 { values[Int(alphabet.utf8Start[sixBits])] = UInt8(sixBits) }
        return values
    }()
}
