// Received bytes on their way up: a loop fills a chunk once, the framing cuts it into views, and each view keeps the
// chunk alive. Nothing between the socket and the decoder copies.

package import JSONCodec

/// A piece of memory that one loop fills and all others only read.
///
/// `@unchecked Sendable`: the loop writes only above the highest index that it has handed out as `Bytes`, and begins again
/// only when there is no other reference to the chunk.
@usableFromInline
package final class ByteChunk: @unchecked Sendable {
    @usableFromInline package let memory: UnsafeMutableRawBufferPointer

    /// At least of this capacity.
    package init(capacity: Int) { memory = LargeBlocks.allocate(capacity) }

    /// Of memory that came from `LargeBlocks` and has no other owner.
    init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    /// Whether its memory is of those that `LargeBlocks` keeps.
    @usableFromInline var isLarge: Bool { memory.count > LargeBlocks.least }

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

    /// The part between two offsets of another view, which has so many bytes.
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

    /// One behind the other, in memory of their own.
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

    /// The bytes, and what has to be kept for as long as they are looked at.
    @inlinable package var parts: (text: UnsafeRawBufferPointer, chunk: ByteChunk?) { (memory, chunk) }

    /// The bytes themselves, for as long as the view is kept. Code that runs for every call uses this: in another module a
    /// closure costs more than most of what is done in it.
    @inlinable package var memory: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: chunk.memory[range]) }

    @inlinable
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: chunk.memory[range]))
    }
}

extension Bytes: CustomStringConvertible {
    @usableFromInline package var description: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}

extension Bytes {
    /// Takes what was written together with its memory. Nil, with the output as it was, for what is small, and for what
    /// would keep more memory than it fills.
    package init?(takingLarge output: borrowing JSONOutput) {
        let count = output.count
        guard count > LargeBlocks.least, count >= output.capacity / 2 else { return nil }
        self.init(ByteChunk(output.takeMemory()), 0..<count)
    }
}
