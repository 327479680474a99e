// Receives values and pieces of text, and keeps them as one growing run of JSON bytes until they are sent.

/// Growable bytes that JSON is written to. Made once and reused; not for use from two threads at a time.
///
/// Usable from inlined code as a whole: of any other `package` type, what is `@inlinable` is called from other modules
/// all the same.
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

    /// How much memory there is for what is written.
    package var capacity: Int { buffer.pointee.capacity }

    /// Gives its memory away, with what stands in it, and begins anew with little. It is given back to
    /// `LargeBlocks` later.
    package func takeMemory() -> UnsafeMutableRawBufferPointer { buffer.pointee.takeMemory() }

    package func truncate(to count: Int) { buffer.pointee.truncate(to: count) }

    @inlinable @inline(__always)
    package func append(_ byte: UInt8) { buffer.pointee.append(byte) }
    package func append(_ bytes: UnsafeRawBufferPointer) {
        bytes.withMemoryRebound(to: UInt8.self) { buffer.pointee.append($0) }
    }
    /// In a few steps where the text is known.
    @inlinable @inline(__always)
    package func append(_ text: StaticString) { buffer.pointee.append(text) }
    package func append(raw text: String) { buffer.pointee.append(raw: text) }

    /// A JSON string in quotes, escaped as Foundation escapes it by default: a slash becomes `\/`.
    package func append(quoted text: String) { buffer.pointee.append(quoted: text) }

    /// In decimal.
    package func append(_ integer: Int64) { buffer.pointee.append(integer: integer) }

    /// Encodes a value at the end. When it throws an `EncodingError`, the output is as before.
    package func encode<Value: Encodable>(_ value: Value) throws {
        if Value.self == Int.self { return buffer.pointee.append(integer: unsafeBitCast(value, to: Int.self)) }
        if Value.self == String.self { return buffer.pointee.append(quoted: unsafeBitCast(value, to: String.self)) }
        if Value.self == Bool.self { return unsafeBitCast(value, to: Bool.self).write(to: &buffer.pointee) }
        let start = buffer.pointee.count
        do {
            try EncodingState.encode(value, into: buffer)
        } catch {
            buffer.pointee.truncate(to: start)
            throw error
        }
    }
}
