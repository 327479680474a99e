// One request on its way through a subject and back. There is one of it: what it holds is moved along.

import RPCWire

struct IncomingRequest: ~Copyable, Sendable {
    let link: Link
    /// The place in the link's table of requests.
    let slot: Int
    /// Nil for a notification, which is never answered.
    let id: RPCIdentifier?
    let method: _ExportedMethod
    /// The text of the arguments, empty when there are none.
    ///
    /// `nonisolated(unsafe)`: that memory is never written to, and `chunk` keeps it for as long as there is the request.
    nonisolated(unsafe) var params: UnsafeRawBufferPointer
    /// Where it lies, in memory that does not move; nil once they have been read: a call may take long, and what its message
    /// came in with is large.
    private(set) var chunk: ByteChunk?
    let deadline: Instant
    /// Where the answer goes if the request came in a batch.
    let batch: BatchReply?
    /// Since when it has been waiting for a worker.
    var arrived: Instant
    /// A post whose turn has come already.
    var isNextPost = false

    init(
        _ request: consuming Request, id: RPCIdentifier?, method: consuming _ExportedMethod, link: Link,
        slot: Int, deadline: Instant, batch: BatchReply?, arrived: Instant
    ) {
        (params, chunk) = request.takeParams()
        self.id = id
        self.method = method
        self.link = link
        self.slot = slot
        self.deadline = deadline
        self.batch = batch
        self.arrived = arrived
    }

    /// What the calls that are made in it inherit.
    var scope: CallScope { CallScope(deadline: inheritedDeadline, caller: Caller(link)) }

    /// Nil for a post, which is not waited for.
    var inheritedDeadline: Instant? { method.isPost || deadline == .distantFuture ? nil : deadline }

    mutating func argumentsAreRead() { chunk = nil }

    /// It keeps what is its own, and lets go of what else came in with it.
    mutating func waitsForLong() {
        guard let whole = chunk?.memory.count, whole > 4_096, params.count < whole / 4 else { return }
        (params, chunk) = Bytes(copying: params).parts
    }
}
