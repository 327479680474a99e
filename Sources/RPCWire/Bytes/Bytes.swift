// Received bytes on their way from the socket to the decoder, without a copy. A loop fills a chunk once, the framing cuts the
// chunk into views, and each view keeps the chunk alive.

package import JSONCodec

/// A piece of memory that one loop fills and all other code only reads.
///
/// `@unchecked Sendable`: the loop writes only behind the highest index that it has handed out as `Bytes`. It starts again at
/// the beginning only when it holds the last reference to the chunk.
@usableFromInline
package final class ByteChunk: @unchecked Sendable {
    @usableFromInline package let memory: UnsafeMutableRawBufferPointer

    /// Makes a chunk that has at least this capacity.
    package init(capacity: Int) { memory = LargeBlocks.allocate(capacity) }

    /// Takes over memory that came from `LargeBlocks` and has no other owner.
    init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    /// Whether `LargeBlocks` keeps blocks of this size for reuse.
    @usableFromInline var isLarge: Bool { memory.count > LargeBlocks.smallestKept }

    deinit { LargeBlocks.deallocate(memory) }
}

/// A read-only view of part of a chunk.
@usableFromInline
package struct Bytes: Sendable {
    @usableFromInline let chunk: ByteChunk
    @usableFromInline let range: Range<Int>

    package init(_ chunk: ByteChunk, _ range: Range<Int>) {
        self.chunk = chunk
        self.range = range.clamped(to: 0..<chunk.memory.count)
    }

    /// The part between two offsets of another view. The view must have that many bytes: nothing is checked here.
    @inline(__always)
    init(start: Int, end: Int, of whole: consuming Bytes) {
        let first = whole.range.lowerBound
        range = Range(uncheckedBounds: (first + start, first + end))
        chunk = whole.chunk
    }

    @usableFromInline
    package init(copying bytes: UnsafeRawBufferPointer) {
        chunk = ByteChunk(capacity: bytes.count)
        chunk.memory.copyMemory(from: bytes)
        range = 0..<bytes.count
    }

    /// Copies both views, one after the other, into a new chunk.
    package init(joining first: Bytes, _ second: Bytes) {
        chunk = ByteChunk(capacity: first.count + second.count)
        range = 0..<first.count + second.count
        let memory = chunk.memory
        first.withUnsafeBytes { memory.copyMemory(from: $0) }
        second.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: memory[first.count...]).copyMemory(from: $0) }
    }

    package init(_ text: String) {
        var text = text
        self = text.withUTF8 { Bytes(copying: UnsafeRawBufferPointer($0)) }
    }

    package static let empty = Bytes("")

    @inlinable package var count: Int { range.count }
    @inlinable package var isEmpty: Bool { range.isEmpty }

    /// The part between two offsets of this view, clamped to it.
    package subscript(part: Range<Int>) -> Bytes {
        let clamped = part.clamped(to: 0..<count)
        return Bytes(chunk, range.lowerBound + clamped.lowerBound..<range.lowerBound + clamped.upperBound)
    }

    /// The bytes, and the chunk that must be kept for as long as the bytes are read.
    @inlinable package var parts: (text: UnsafeRawBufferPointer, chunk: ByteChunk?) { (memory, chunk) }

    /// The bytes. Valid only while the view is kept. Code that runs for every call uses this and not `withUnsafeBytes`: in
    /// another module a closure costs more than most of what is done in it.
    @inlinable package var memory: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: chunk.memory[range]) }

    @inlinable
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: chunk.memory[range]))
    }
}

extension Bytes {
    /// The same part of a copy, if this is a part of what was copied.
    func moved(from old: Bytes, to new: Bytes) -> Bytes {
        guard chunk === old.chunk else { return self }
        let offset = range.lowerBound - old.range.lowerBound
        return new[offset..<offset + count]
    }
}

extension Bytes: CustomStringConvertible {
    @usableFromInline package var description: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }

    /// How many bytes `beginning` shows.
    static let mostShown = 40

    /// The first bytes as a quoted text in ASCII, for errors about bytes that are no message.
    package var beginning: String {
        let shown = self[0..<Bytes.mostShown].description.unicodeScalars.map { $0.escaped(asASCII: true) }
        return "\"\(shown.joined())\(count > Bytes.mostShown ? "…" : "")\""
    }
}

extension Bytes {
    /// Takes over the output's memory instead of copying the bytes. Nil for a small output, and for one that fills less than
    /// half of its memory. Then the output is unchanged.
    package init?(takingLarge output: borrowing JSONOutput) {
        let count = output.count
        guard count > LargeBlocks.smallestKept, count >= output.capacity / 2 else { return nil }
        self.init(ByteChunk(output.takeMemory()), 0..<count)
    }
}

extension String {
    /// The most bytes of a peer's text that is compared or hashed as a text. A longer one could take very long: Swift compares
    /// characters, and one character may be a million bytes.
    package static var longestCompared: Int { 1_024 }
}
