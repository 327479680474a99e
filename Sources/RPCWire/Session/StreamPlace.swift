// Where something begins that was given to one of the streams that serve this end, one after the other.

/// A position in one of several streams.
@usableFromInline
package struct StreamPlace: Sendable, Hashable {
    @usableFromInline package let stream: Int
    @usableFromInline package let offset: UInt64

    @inlinable package init(stream: Int, offset: UInt64) {
        self.stream = stream
        self.offset = offset
    }
}
