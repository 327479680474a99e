// The usual spelling of an argument and of a message in one step each; anything else is left to the rest of the reader.

extension JSONReader {
    /// Begins inside a text: at this offset, with this many containers open around it.
    package init(_ bytes: UnsafeRawBufferPointer, at offset: Int, depth: Int) {
        self.init(bytes)
        position = offset
        self.depth = depth
    }

    /// Begins behind the bracket with which a text opens an array; nil for any other text.
    package init?(insideArray bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first, first == UInt8(ascii: "[") else { return nil }
        self.init(bytes, at: 1, depth: 1)
        limitDepth(to: Self.deepestLimit)
        isFirst = true
    }

    /// The next element of an array when it is a short integer and nothing stands around it: `nextElement` and `readInt64`
    /// in one step. Nil, with the cursor unmoved, for anything else.
    package mutating func nextPlainInteger() -> Int? {
        let start = position
        if !isFirst {
            guard start < count, base[start] == UInt8(ascii: ",") else { return nil }
            position &+= 1
        }
        guard position < count, let short = readShortInteger(), let integer = Int(exactly: short.value) else {
            position = start
            return nil
        }
        isFirst = false
        return integer
    }
}
