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
    /// What few requests have; nil for nearly all. Requests are moved several times, so they are small.
    private let extras: RequestExtras?
    /// Since when the request has been waiting for a worker.
    var arrived: Instant
    /// Whether the posts before this request have run, so that it need not wait for any.
    var hasTurn = false

    init(
        _ request: Request, id: RPCIdentifier?, object: consuming ExportedObject, method: consuming ExportedMethod,
        link: Link,
        slot: Int, deadline: Instant, metadata: CallMetadata?, served: ServedRequest?, batch: BatchReply?,
        objects: NamedObjects?, arrived: Instant
    ) {
        (params, chunk) = request.keptParams
        self.id = id
        self.object = object
        self.method = method
        self.link = link
        self.slot = slot
        self.deadline = deadline
        extras =
            metadata == nil && served == nil && batch == nil && objects == nil
            ? nil : RequestExtras(metadata, served, batch, objects)
        self.arrived = arrived
    }

    /// What came with the request besides its arguments.
    var metadata: CallMetadata? { extras?.metadata }
    /// The request itself, if it was made inside a call of this end.
    var served: ServedRequest? { extras?.served }
    /// Takes the answer if the request came in a batch.
    var batch: BatchReply? { extras?.batch }
    /// The objects that the request lists, until its arguments have been read.
    var objects: NamedObjects? { extras?.objects }

    /// The scope that calls made by the subject inherit.
    var scope: CallScope {
        var scope = CallScope(
            deadline: inheritedDeadline, caller: Caller(link, metadata: metadata), metadata: metadata?.passedOn)
        guard let served else { return scope }
        scope.served = served
        // The holds of the task that waits for the request.
        scope.rights = served.call?.scope?.rights.filter(\.isHold) ?? []
        return scope
    }

    /// The deadline for those calls; nil for a post, whose end no caller awaits.
    var inheritedDeadline: Instant? { method.isPost || deadline == .distantFuture ? nil : deadline }

    mutating func argumentsAreRead() {
        chunk = nil
        if let extras, extras.objects != nil { extras.objects = nil }
    }

    /// Called before a long wait: copies a small text, so as not to keep the large chunk that it came in.
    mutating func waitsForLong() {
        guard let whole = chunk?.memory.count, whole > 4_096, params.count < whole / 4 else { return }
        (params, chunk) = Bytes(copying: params).parts
    }
}

/// `@unchecked Sendable`: moves with its request, and only the code that has the request changes it.
private final class RequestExtras: @unchecked Sendable {
    let metadata: CallMetadata?
    let served: ServedRequest?
    let batch: BatchReply?
    var objects: NamedObjects?

    init(_ metadata: CallMetadata?, _ served: ServedRequest?, _ batch: BatchReply?, _ objects: NamedObjects?) {
        (self.metadata, self.served, self.batch, self.objects) = (metadata, served, batch, objects)
    }
}
