// The places in which requests wait: a queue, the place of a worker, and a queue for posts.

import RPCWire

typealias RequestQueue = Queue<IncomingRequest>

extension RequestQueue {
    /// Since when the first request has been waiting; nil if there is none.
    var oldest: Instant? { count > 0 ? self[0].arrived : nil }

    /// Whether the first request is for the same method of the same object as this one, and has the same scope.
    func isFirst(like request: borrowing IncomingRequest) -> Bool {
        count > 0 && self[0].method === request.method && self[0].object === request.object
            && self[0].link === request.link
            && self[0].deadline == request.deadline && self[0].metadata === request.metadata
            && self[0].served == nil && request.served == nil
    }

    /// Whether the first request is to be run in this scope.
    func isFirst(in scope: CallScope) -> Bool {
        count > 0 && scope.caller?.isAt(self[0].link, with: self[0].metadata) == true
            && scope.deadline == self[0].inheritedDeadline && self[0].served == nil && scope.served == nil
    }

    /// Moves the first request into that place. False when there is none.
    @inline(__always)
    mutating func moveFirst(to place: inout RequestPlace) -> Bool { moveFirst { place.put(movedFrom: $0) } }
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
            line.waiting.letGo(beyond: 64)
            self.object = nil
            return nil
        }
        count -= 1
        return line.waiting.popFirst()
    }
}
