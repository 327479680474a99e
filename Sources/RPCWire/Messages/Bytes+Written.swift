// Receives a large message where it was written and hands it on as it is, for all who keep it and all who send it: a copy
// for each would cost more than everything else that is done with it.

package import JSONCodec

extension Bytes {
    /// Takes what was written together with its memory. Nil, with the output as it was, for what is small, and for what
    /// would keep more memory than it fills.
    package init?(takingLarge output: borrowing JSONOutput) {
        let count = output.count
        guard count > LargeBlocks.least, count >= output.capacity / 2 else { return nil }
        self.init(ByteChunk(output.takeMemory()), 0..<count)
    }
}
