// Requests that wait their turn.

import RPCWire

/// First in, first out: a ring in memory of its own, into which requests are moved and out of which they are moved again.
///
/// `@unchecked Sendable`: the memory belongs to one queue, and a queue to one owner.
struct RequestQueue: ~Copyable, @unchecked Sendable {
    private var ring = UnsafeMutableBufferPointer<IncomingRequest>(start: nil, count: 0)
    private var head = 0
    private(set) var count = 0

    deinit {
        for index in 0..<count { (ring.baseAddress.unsafelyUnwrapped + place(index)).deinitialize(count: 1) }
        ring.deallocate()
    }

    var isEmpty: Bool { count == 0 }
    /// Since when the first has been waiting.
    var oldest: Instant? { count > 0 ? ring[head].arrived : nil }

    /// Whether the first is for the same method as this one and has the same scope.
    func isFirst(like request: borrowing IncomingRequest) -> Bool {
        count > 0 && ring[head].method === request.method && ring[head].link === request.link
            && ring[head].deadline == request.deadline
    }

    /// Whether the first is to be run in this scope.
    func isFirst(in scope: CallScope) -> Bool {
        count > 0 && scope.caller?.isAt(ring[head].link) == true && scope.deadline == ring[head].inheritedDeadline
    }

    @inline(__always)
    mutating func append(_ request: consuming IncomingRequest) {
        if count == ring.count { grow() }
        ring.initializeElement(at: place(count), to: request)
        count += 1
    }

    mutating func popFirst() -> IncomingRequest? {
        guard count > 0 else { return nil }
        defer { forgetFirst() }
        return ring.moveElement(from: head)
    }

    /// Moves the first from here to there. False when there is none.
    @inline(__always)
    mutating func moveFirst(to place: inout RequestPlace) -> Bool {
        guard count > 0 else { return false }
        place.put(movedFrom: ring.baseAddress.unsafelyUnwrapped + head)
        forgetFirst()
        return true
    }

    /// It has been moved elsewhere.
    @inline(__always)
    private mutating func forgetFirst() {
        head = place(1)
        count -= 1
    }

    /// The capacity is a power of two, so the mask is the remainder.
    private func place(_ index: Int) -> Int { (head + index) & (ring.count - 1) }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutableBufferPointer<IncomingRequest>.allocate(capacity: max(8, ring.count * 2))
        for index in 0..<count { larger.initializeElement(at: index, to: ring.moveElement(from: place(index))) }
        ring.deallocate()
        ring = larger
        head = 0
    }
}

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

    /// Into a free place. A request that is left in it is let go of.
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

/// Posts of one link run one at a time, in the order in which they came.
struct PostQueue: ~Copyable {
    private var isRunning = false
    private var waiting = RequestQueue()

    /// Gives the post back if it may begin. Nil when another one is running: it waits, and the worker of that one runs it
    /// afterwards.
    mutating func begin(_ post: consuming IncomingRequest) -> IncomingRequest? {
        guard !isRunning || post.isNextPost else {
            post.waitsForLong()
            waiting.append(post)
            return nil
        }
        isRunning = true
        return post
    }

    mutating func next() -> IncomingRequest? {
        if waiting.isEmpty { isRunning = false }
        return waiting.popFirst()
    }
}
