// Collects values and pieces of text as one growing run of JSON bytes, until they are sent.

/// A growing buffer that JSON is written to. Make it once and reuse it; do not use it from two threads at a time.
///
/// `@usableFromInline` is needed for inlining: without it, other modules call the `@inlinable` members and do not inline
/// them.
@usableFromInline
package final class JSONOutput {
    @usableFromInline let buffer: UnsafeMutablePointer<OutputBuffer>

    package init(capacity: Int = 256) {
        buffer = .allocate(capacity: 1)
        buffer.initialize(to: OutputBuffer(capacity: capacity))
    }

    deinit {
        buffer.pointee.deallocate()
        buffer.deallocate()
    }

    @inlinable package var count: Int { buffer.pointee.count }

    /// Valid until the next mutation.
    @inlinable package var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: buffer.pointee.base, count: buffer.pointee.count)
    }

    /// Keeps the memory for the next use, unless it is large.
    package func removeAll() {
        buffer.pointee.truncate(to: 0)
        buffer.pointee.letGoOfMuch()
    }

    /// How many bytes the memory can hold.
    package var capacity: Int { buffer.pointee.capacity }

    /// Returns the memory with its contents, and starts again with a little memory. The caller has to give the memory to
    /// `LargeBlocks` later.
    package func takeMemory() -> UnsafeMutableRawBufferPointer { buffer.pointee.takeMemory() }

    package func truncate(to count: Int) { buffer.pointee.truncate(to: count) }

    @inlinable @inline(__always)
    package func append(_ byte: UInt8) { buffer.pointee.append(byte) }
    package func append(_ bytes: UnsafeRawBufferPointer) {
        bytes.withMemoryRebound(to: UInt8.self) { buffer.pointee.append($0) }
    }
    /// Takes only a few steps if the text is known when compiling.
    @inlinable @inline(__always)
    package func append(_ text: StaticString) { buffer.pointee.append(text) }
    package func append(raw text: String) { buffer.pointee.append(raw: text) }

    /// A JSON string in quotes. Quotes, backslashes and control characters are escaped.
    package func append(quoted text: String) { buffer.pointee.append(quoted: text) }

    /// In decimal.
    package func append(_ integer: Int64) { buffer.pointee.append(integer: integer) }

    /// Encodes a value at the end. If it throws an `EncodingError`, the output is unchanged.
    package func encode<Value: Encodable>(_ value: Value, in context: CodingContext = .none) throws {
        if Value.self == Int.self { return buffer.pointee.append(integer: unsafeBitCast(value, to: Int.self)) }
        if Value.self == String.self { return buffer.pointee.append(quoted: unsafeBitCast(value, to: String.self)) }
        if Value.self == Bool.self { return unsafeBitCast(value, to: Bool.self).write(to: &buffer.pointee) }
        let start = buffer.pointee.count
        do {
            try EncodingState.encode(value, into: buffer, context)
        } catch {
            buffer.pointee.truncate(to: start)
            throw error
        }
    }
}
