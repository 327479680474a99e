// Requests that wait their turn.

import RPCWire

/// First in, first out, without moving what is behind each time.
struct RequestQueue {
    private var items: [IncomingRequest?] = []
    private var head = 0

    var count: Int { items.count - head }
    var isEmpty: Bool { head == items.count }
    /// Since when the first has been waiting.
    var oldest: Instant? { head < items.count ? items[head]?.arrived : nil }

    /// How many its session has that wait.
    var ownOfOldest: Int { head < items.count ? items[head]?.session.waitingRequests ?? 0 : 0 }

    mutating func append(_ request: consuming IncomingRequest) { items.append(request) }

    mutating func popFirst() -> IncomingRequest? {
        guard head < items.count else { return nil }
        let first = items[head].take()
        head += 1
        if head == items.count {
            items.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 256, head * 2 >= items.count {
            // A queue that is never quite empty must not grow for ever at its front.
            items.removeFirst(head)
            head = 0
        }
        return first
    }
}
