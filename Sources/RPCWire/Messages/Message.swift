// One received JSON-RPC message: classified and checked. Its values stay as JSON text.

package enum Message: Sendable {
    case request(Request)
    /// - Parameters:
    ///   - number: the id if it is an integer, else nil. Calls of this library have integers.
    ///   - value: JSON text.
    case result(number: Int64?, value: Bytes)
    case failure(number: Int64?, error: ErrorObject)
    /// A request, an unreadable one, or a result, with the objects that its values name.
    /// - Parameter objects: at least one and at most `mostNamed`. A positive number is the handle of an object of the sender, a
    ///   negative one that of an object of the receiver.
    indirect case naming(Message, objects: [Int64])
    /// At least one message, in the order of the frame. None of them is a batch or `refused`.
    case batch([Message])
    /// A request whose parameters are nested too deep, or have half of a surrogate pair in a string. The request is here
    /// without its parameters, and is answered with this error.
    indirect case unreadable(Request, ErrorObject)
    /// Not a request, but the sender may wait for an answer. It is answered with this error under this id.
    case invalid(id: RPCIdentifier, error: ErrorObject)
    /// The whole frame cannot be read. It is answered once, with this error under the id null.
    case refused(ErrorObject)
    /// A reply without an id; the text says so. No reply is ever answered, or two ends could answer each other for ever.
    case ignored(String)

    /// How many objects a message may name.
    package static let mostNamed = 1_000

    /// How many messages this is: more than one only for a batch.
    @inline(__always)
    package var count: Int { if case .batch(let messages) = self { messages.count } else { 1 } }

    /// Whether the message must be answered. For a batch, ask each of its messages.
    package var isAnswered: Bool {
        switch self {
        case .request(let request), .unreadable(let request, _): request.id != nil
        case .naming(let message, _): message.isAnswered
        case .invalid, .refused: true
        case .result, .failure, .ignored, .batch: false
        }
    }
}

extension Message {
    /// The same message, copied if it is a small part of what was read at once: otherwise it would keep all of that.
    package var inOwnMemory: Message {
        guard let frame = smallPart else { return self }
        return moved(from: frame, to: Bytes(copying: frame.memory))
    }

    /// The frame, if it is a small part of its chunk.
    private var smallPart: Bytes? {
        switch self {
        case .request(let request), .unreadable(let request, _):
            request.frame.count < request.frame.chunk.memory.count / 4 ? request.frame : nil
        case .naming(let message, _): message.smallPart
        // Its members have the same frame, but for those whose names have escapes.
        case .batch(let messages): messages.lazy.compactMap(\.smallPart).first
        case .result, .failure, .invalid, .refused, .ignored: nil
        }
    }

    private func moved(from old: Bytes, to new: Bytes) -> Message {
        switch self {
        case .request(let request) where request.frame.chunk === old.chunk: return .request(Request(request, in: new))
        case .unreadable(let request, let error) where request.frame.chunk === old.chunk:
            return .unreadable(Request(request, in: new), error)
        case .naming(let message, let objects): return .naming(message.moved(from: old, to: new), objects: objects)
        case .result(let number, let value): return .result(number: number, value: value.moved(from: old, to: new))
        case .failure(let number, var error):
            error.data = error.data?.moved(from: old, to: new)
            return .failure(number: number, error: error)
        case .batch(let messages): return .batch(messages.map { $0.moved(from: old, to: new) })
        case .request, .unreadable, .invalid, .refused, .ignored: return self
        }
    }
}

/// What a request of this library says of its place among others. It has one of these at most.
@usableFromInline
package enum RequestMark: Sendable, Hashable {
    case none
    /// The number of a post, which has no id.
    case post(Int64)
    /// The number of the call inside which the request was made, of those that this end has made; 0 if it was made inside anything
    /// else.
    case inside(Int64)
    /// The number of a transfer, which passes the requests that wait.
    case transfer(Int64)
}

/// A request as a view of its frame. The frame is its only reference-counted member, unless the id is a text.
@usableFromInline
package struct Request: Sendable {
    /// Nil for a notification, which is never answered.
    package let id: RPCIdentifier?
    @usableFromInline let frame: Bytes
    @usableFromInline let name: Range<Int>
    /// Empty when the request has none.
    @usableFromInline let arguments: Range<Int>
    /// How long the caller waits, in milliseconds. A member of this library, not of JSON-RPC.
    package let timeout: Int64?
    /// Also a member of this library.
    @usableFromInline package let mark: RequestMark
    /// Where the metadata is in the frame; empty when there is none. Also a member of this library.
    @usableFromInline let metadataRange: Range<Int>

    /// - Parameters:
    ///   - method: where the name is in the frame, in UTF-8 and without escapes.
    ///   - params: where the parameters are in the frame; empty when there are none.
    @inline(__always)
    init(
        id: RPCIdentifier?, in frame: consuming Bytes, method: Range<Int>, params: Range<Int>, timeout: Int64?,
        mark: RequestMark, metadata: Range<Int> = 0..<0
    ) {
        self.id = id
        self.frame = frame
        name = method
        arguments = params
        self.timeout = timeout
        self.mark = mark
        metadataRange = metadata
    }

    /// Copies the method, the parameters and the metadata into a new frame.
    package init(
        id: RPCIdentifier?, method: Bytes, params: Bytes?, timeout: Int64?, mark: RequestMark = .none,
        metadata: Bytes = .empty
    ) {
        let named = Bytes(joining: method, params ?? .empty)
        let frame = metadata.isEmpty ? named : Bytes(joining: named, metadata)
        self.init(
            id: id, in: frame, method: 0..<method.count, params: method.count..<named.count, timeout: timeout,
            mark: mark, metadata: named.count..<frame.count)
    }

    /// The same request in another copy of its frame.
    fileprivate init(_ other: Request, in frame: Bytes) {
        self.init(
            id: other.id, in: frame, method: other.name, params: other.arguments, timeout: other.timeout,
            mark: other.mark,
            metadata: other.metadataRange)
    }

    /// The name, in UTF-8 and without escapes.
    package var method: Bytes { frame[name] }
    /// An array or an object as JSON text. Nil when there are no parameters: if they are missing, null, [] or {}.
    package var params: Bytes? { arguments.isEmpty ? nil : frame[arguments] }
    @inlinable package var paramsCount: Int { arguments.count }
    /// The metadata as JSON text, of any type. Nil when there is none.
    package var metadata: Bytes? { metadataRange.isEmpty ? nil : frame[metadataRange] }
    @inlinable package var metadataCount: Int { metadataRange.count }

    /// The parameters, and the chunk that must be kept for as long as they are read. The text is empty when there are none.
    @inlinable @inline(__always)
    package var keptParams: (text: UnsafeRawBufferPointer, chunk: ByteChunk?) {
        // An empty or small view of a large chunk would keep all bytes that came in with the request until the call begins.
        guard !arguments.isEmpty else { return (UnsafeRawBufferPointer(start: nil, count: 0), nil) }
        let text = UnsafeRawBufferPointer(rebasing: frame.memory[arguments])
        if text.count < frame.chunk.memory.count / 4, frame.chunk.isLarge { return Bytes(copying: text).parts }
        return (text, frame.chunk)
    }

    /// The bytes of the name. Valid only while the request is kept.
    @inlinable package var methodName: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: frame.memory[name]) }

    /// Whether this is the ping of a peer that runs this library.
    package var isPing: Bool {
        guard case .integer(RPCIdentifier.ofPing) = id else { return false }
        return withExtendedLifetime(self) { methodName.elementsEqual(SystemMethod.ping.utf8) }
    }
}
