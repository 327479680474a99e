// One request on its way through a subject and back. It exists once: it is moved, never copied.

import RPCWire

struct IncomingRequest: ~Copyable, Sendable {
    let link: Link
    /// The request's place in the link's table.
    let slot: Int
    /// Nil for a notification, which is never answered.
    let id: RPCIdentifier?
    let object: ExportedObject
    /// A method of the object's service, or one of the protocol.
    let method: ExportedMethod
    /// The text of the arguments; empty when there are none.
    ///
    /// `nonisolated(unsafe)`: that memory is never written to, and `chunk` keeps it for as long as the text is read.
    nonisolated(unsafe) var params: UnsafeRawBufferPointer
    /// The memory of the text, which does not move. Nil once the arguments have been read: a call may take long, and the memory
    /// that its message came in is large.
    private(set) var chunk: ByteChunk?
    let deadline: Instant
    /// What came with the request besides its arguments; nil for nearly all requests.
    let metadata: CallMetadata?
    /// Takes the answer if the request came in a batch.
    let batch: BatchReply?
    /// Since when the request has been waiting for a worker.
    var arrived: Instant
    /// Whether the posts before this request have run, so that it need not wait for any.
    var hasTurn = false

    init(
        _ request: Request, id: RPCIdentifier?, object: consuming ExportedObject, method: consuming ExportedMethod,
        link: Link,
        slot: Int, deadline: Instant, metadata: CallMetadata?, batch: BatchReply?, arrived: Instant
    ) {
        (params, chunk) = request.keptParams
        self.id = id
        self.object = object
        self.method = method
        self.link = link
        self.slot = slot
        self.deadline = deadline
        self.metadata = metadata
        self.batch = batch
        self.arrived = arrived
    }

    /// The scope that calls made by the subject inherit.
    var scope: CallScope {
        CallScope(deadline: inheritedDeadline, caller: Caller(link, metadata: metadata), metadata: metadata?.passedOn)
    }

    /// The deadline for those calls; nil for a post, whose end no caller awaits.
    var inheritedDeadline: Instant? { method.isPost || deadline == .distantFuture ? nil : deadline }

    mutating func argumentsAreRead() { chunk = nil }

    /// Called before a long wait: copies a small text, so as not to keep the large chunk that it came in.
    mutating func waitsForLong() {
        guard let whole = chunk?.memory.count, whole > 4_096, params.count < whole / 4 else { return }
        (params, chunk) = Bytes(copying: params).parts
    }
}
