// A request as the answering side reads most of them: what stands in it, and where in its frame. Nothing in it is counted.

package struct PlainRequest: Sendable {
    /// Nil for a notification.
    let id: Int64?
    let name: Range<Int>
    let arguments: Range<Int>
    let timeout: Int64?
    let number: Int64?

    /// Whether an answer is owed for it.
    package var isAnswered: Bool { id != nil }
}

extension Request {
    /// - Parameter frame: the one that it was read from.
    @inline(__always)
    package init(_ plain: PlainRequest, in frame: consuming Bytes) {
        self.init(
            id: plain.id.map { .integer($0) }, in: frame, method: plain.name, params: plain.arguments,
            timeout: plain.timeout, number: plain.number)
    }
}
