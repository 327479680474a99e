// Room for the one request that a worker runs.

import RPCWire

/// In memory of its own, into which a request is moved and out of which it is moved again: an optional would have to find out
/// each time what of the last one is left.
///
/// `@unchecked Sendable`: the memory belongs to one place, and a place to one worker.
struct RequestPlace: ~Copyable, @unchecked Sendable {
    private let memory = UnsafeMutablePointer<IncomingRequest>.allocate(capacity: 1)
    private(set) var isFree = true

    deinit {
        if !isFree { memory.deinitialize(count: 1) }
        memory.deallocate()
    }

    /// Of a place that is not free.
    var request: IncomingRequest { _read { yield memory.pointee } }

    /// Into a free place; whatever may be left in it is let go of.
    @inline(__always)
    mutating func put(_ request: consuming IncomingRequest) {
        if !isFree { clear() }
        memory.initialize(to: request)
        isFree = false
    }

    /// The same out of memory that is free afterwards.
    @inline(__always)
    mutating func put(movedFrom source: UnsafeMutablePointer<IncomingRequest>) {
        if !isFree { clear() }
        memory.moveInitialize(from: source, count: 1)
        isFree = false
    }

    mutating func take() -> IncomingRequest? {
        guard !isFree else { return nil }
        isFree = true
        return memory.move()
    }

    /// Of a place that is not free.
    mutating func clear() {
        isFree = true
        memory.deinitialize(count: 1)
    }

    func argumentsAreRead() {
        if !isFree { memory.pointee.argumentsAreRead() }
    }
}
