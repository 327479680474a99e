// One JSON-RPC message as it came in: told apart, checked, and otherwise left as the bytes it is.

package enum Message: Sendable {
    case request(Request)
    /// - Parameters:
    ///   - number: the id, nil for one that is no integer. Calls of this library have integers.
    ///   - value: JSON text.
    case result(number: Int64?, value: Bytes)
    case failure(number: Int64?, error: ErrorObject)
    /// At least one message, in the order in which they stand in the frame. None of them is a batch or `refused`.
    case batch([Message])
    /// A request whose parameters are nested too deep, or have half of a surrogate pair in a string: without them here, and
    /// to be answered with this error.
    indirect case unreadable(Request, ErrorObject)
    /// Not a request, but its sender may wait for an answer: this error, under this id.
    case invalid(id: RPCIdentifier, error: ErrorObject)
    /// The whole frame cannot be read. It is answered once, with this error under the id null.
    case refused(ErrorObject)
    /// A reply to nothing. Replies are never answered, not even bad ones, or two ends could go on for ever.
    case ignored(String)

    /// Whether an answer is owed for it. Not asked of a batch, whose messages are asked one by one.
    package var isAnswered: Bool {
        switch self {
        case .request(let request), .unreadable(let request, _): request.id != nil
        case .invalid, .refused: true
        case .result, .failure, .ignored, .batch: false
        }
    }
}

/// A view of its frame: the one thing in it that is counted, unless its id is a text.
@usableFromInline
package struct Request: Sendable {
    /// Nil for a notification, which is never answered.
    package let id: RPCIdentifier?
    @usableFromInline let frame: Bytes
    @usableFromInline let name: Range<Int>
    /// Empty when there are none.
    @usableFromInline let arguments: Range<Int>
    /// How long the caller waits, in milliseconds. Our own member beside those of JSON-RPC.
    package let timeout: Int64?
    /// The number of a post, which has no id. Our own member too.
    package let number: Int64?

    /// - Parameters:
    ///   - method: where the frame has the name, in UTF-8 and without escapes.
    ///   - params: where it has them; empty when there are none.
    @inline(__always)
    init(
        id: RPCIdentifier?, in frame: consuming Bytes, method: Range<Int>, params: Range<Int>, timeout: Int64?,
        number: Int64?
    ) {
        self.id = id
        self.frame = frame
        name = method
        arguments = params
        self.timeout = timeout
        self.number = number
    }

    /// In a frame of its own.
    package init(id: RPCIdentifier?, method: Bytes, params: Bytes?, timeout: Int64?, number: Int64? = nil) {
        let frame = Bytes(joining: method, params ?? .empty)
        let (name, arguments) = (0..<method.count, method.count..<frame.count)
        self.init(id: id, in: frame, method: name, params: arguments, timeout: timeout, number: number)
    }

    /// UTF-8, without escapes.
    package var method: Bytes { frame[name] }
    /// JSON text of an array or an object; nil when there are none, which missing, null, [] and {} all mean.
    package var params: Bytes? { arguments.isEmpty ? nil : frame[arguments] }
    @inlinable package var paramsCount: Int { arguments.count }

    /// The parameters, empty when there are none, of a request of which nothing else is needed any more, and what has to be
    /// kept for as long as they are looked at.
    @inlinable @inline(__always)
    package consuming func takeParams() -> (text: UnsafeRawBufferPointer, chunk: ByteChunk?) {
        // A view of nothing would keep all that came in with the request, and one of little much, until the call begins.
        guard !arguments.isEmpty else { return (UnsafeRawBufferPointer(start: nil, count: 0), nil) }
        let text = UnsafeRawBufferPointer(rebasing: frame.memory[arguments])
        if text.count < frame.chunk.memory.count / 4, frame.chunk.isLarge { return Bytes(copying: text).parts }
        return (text, frame.chunk)
    }

    /// The bytes of the name, for as long as the request is kept.
    @inlinable package var methodName: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: frame.memory[name]) }

    /// Whether an end of our own kind asks for a sign of life.
    package var isPing: Bool {
        guard case .integer(RPCIdentifier.ofPing) = id else { return false }
        return withExtendedLifetime(self) { methodName.elementsEqual("rpc.ping".utf8) }
    }
}
