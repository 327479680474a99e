// The places in which requests wait: a queue, the place of a worker, and a queue for posts.

import RPCWire

/// First in, first out. A ring in memory of its own; requests are moved into it and out of it, never copied.
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
    /// Since when the first request has been waiting; nil if there is none.
    var oldest: Instant? { count > 0 ? ring[head].arrived : nil }

    /// Whether the first request is for the same method of the same object as this one, and has the same scope.
    func isFirst(like request: borrowing IncomingRequest) -> Bool {
        count > 0 && ring[head].method === request.method && ring[head].object === request.object
            && ring[head].link === request.link
            && ring[head].deadline == request.deadline && ring[head].metadata === request.metadata
            && ring[head].served == nil && request.served == nil
    }

    /// Whether the first request is to be run in this scope.
    func isFirst(in scope: CallScope) -> Bool {
        count > 0 && scope.caller?.isAt(ring[head].link, with: ring[head].metadata) == true
            && scope.deadline == ring[head].inheritedDeadline && ring[head].served == nil && scope.served == nil
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

    /// Moves the first request into that place. False when there is none.
    @inline(__always)
    mutating func moveFirst(to place: inout RequestPlace) -> Bool {
        guard count > 0 else { return false }
        place.put(movedFrom: ring.baseAddress.unsafelyUnwrapped + head)
        forgetFirst()
        return true
    }

    /// Called when the first request has been moved elsewhere.
    @inline(__always)
    private mutating func forgetFirst() {
        head = place(1)
        count -= 1
    }

    /// The position in the ring. The capacity is a power of two, so the mask gives the remainder.
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

/// The place of the request that a worker runs. Requests are moved in and out. An optional would have to find out each time
/// which parts of the last request are left.
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

    /// Puts a request into the place. A request that is left in it is released.
    @inline(__always)
    mutating func put(_ request: consuming IncomingRequest) {
        if !isFree { clear() }
        memory.initialize(to: request)
        isFree = false
    }

    /// Does the same with a request that is moved out of `source`, which is free afterwards.
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

/// The posts of one link. Those to one object run one at a time, in the order in which they came. Calls wait here for the posts
/// before them to their own object.
struct PostLines: ~Copyable {
    /// What waits for the posts to one object.
    private struct Line: ~Copyable {
        var waiting = RequestQueue()
        /// The post that runs, if it may wait for what it calls.
        var running: ServedRequest?

        /// Gives the request back if it may pass the post that runs: a call that was made inside it, which would wait for itself.
        mutating func join(_ request: consuming IncomingRequest) -> IncomingRequest? {
            if !request.method.isPost, let running, request.served?.isInside(running) == true { return request }
            request.waitsForLong()
            waiting.append(request)
            return nil
        }
    }

    private final class OtherLine {
        var line = Line()
    }

    /// The object whose posts run. Nearly always there is only one. An object lives for as long as a request for it.
    private var object: ObjectIdentifier?
    private var line = Line()
    /// While posts to several objects run.
    private var others: [ObjectIdentifier: OtherLine] = [:]
    /// How many requests wait.
    private(set) var count = 0

    /// Whether a post runs, or its successor is about to.
    var isRunning: Bool { object != nil || !others.isEmpty }

    /// To how many objects posts run.
    var lineCount: Int { others.count + (object == nil ? 0 : 1) }

    /// Gives the request back if it may begin now. Returns nil when a post to its object runs: then the request waits, and the
    /// worker of that post passes it on afterwards.
    mutating func begin(_ request: consuming IncomingRequest) -> IncomingRequest? {
        let object = ObjectIdentifier(request.object)
        let other = object == self.object ? nil : others[object]
        guard object == self.object || other != nil else {
            if request.method.isPost {
                if self.object == nil { self.object = object } else { others[object] = OtherLine() }
            }
            return request
        }
        if request.hasTurn { return request }
        let first: IncomingRequest?
        if let other { first = other.line.join(request) } else { first = line.join(request) }
        if first == nil { count += 1 }
        return first
    }

    /// Notes the post that runs in the line of its object.
    mutating func runs(_ post: ServedRequest?, on object: ExportedObject) {
        let object = ObjectIdentifier(object)
        if object == self.object { line.running = post } else { others[object]?.line.running = post }
    }

    /// Takes a request out that will not run.
    mutating func dropFirst() -> IncomingRequest? {
        guard count > 0 else { return nil }
        count -= 1
        if let first = line.waiting.popFirst() { return first }
        for other in others.values where !other.line.waiting.isEmpty { return other.line.waiting.popFirst() }
        return nil
    }

    /// The request that has waited longest for the post to this object that has just run.
    mutating func next(after object: ExportedObject) -> IncomingRequest? {
        let object = ObjectIdentifier(object)
        guard object == self.object else {
            guard let other = others[object] else { return nil }
            guard !other.line.waiting.isEmpty else {
                others[object] = nil
                return nil
            }
            count -= 1
            return other.line.waiting.popFirst()
        }
        guard !line.waiting.isEmpty else {
            self.object = nil
            return nil
        }
        count -= 1
        return line.waiting.popFirst()
    }
}
