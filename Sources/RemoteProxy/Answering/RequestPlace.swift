// Room for the one request that a worker runs.

import RPCWire

/// In memory of its own, into which a request is moved and out of which it is moved again: an optional would have to find out
/// each time what of the last one is left.
///
/// `@unchecked Sendable`: the memory belongs to one place, and a place to one worker.
struct RequestPlace: ~Copyable, @unchecked Sendable {
    private let memory = UnsafeMutablePointer<IncomingRequest>.allocate(capacity: 1)
    private var isFree = true

    deinit {
        if !isFree { memory.deinitialize(count: 1) }
        memory.deallocate()
    }

    /// Into a free place; whatever may be left in it is let go of.
    mutating func put(_ request: consuming IncomingRequest) {
        if !isFree { memory.deinitialize(count: 1) }
        memory.initialize(to: request)
        isFree = false
    }

    mutating func take() -> IncomingRequest? {
        guard !isFree else { return nil }
        isFree = true
        return memory.move()
    }

    func argumentsAreRead() {
        if !isFree { memory.pointee.argumentsAreRead() }
    }
}
