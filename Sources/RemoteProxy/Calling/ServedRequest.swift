// How requests that go back and forth between two ends are known as one chain of calls: as if all of them were made in one task.

import RPCSockets

/// A request of another end that a task serves, if others must know it again: it was made inside a call of this end, or it is a post
/// that waits for what it calls. Nothing is made for any other request.
final class ServedRequest: Sendable {
    private struct State {
        var call: WaitingCall?
        var hasEnded = false
    }

    let link: Link
    /// The number by which the other end knows the request; nil for a post, for which no caller waits there.
    let number: Int64?
    private let state: Lock<State>

    /// - Parameter call: the call of this end inside which the other end has made the request; nil if there is none.
    init(over link: Link, number: Int64?, inside call: WaitingCall?) {
        (self.link, self.number) = (link, number)
        state = Lock(State(call: call))
    }

    /// Called when the request has been served. A task that goes on longer is not inside it any more. The call is let go, because
    /// requests could form a chain without an end otherwise.
    func end() { state.withLock { $0 = State(call: nil, hasEnded: true) } }

    private var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// The call inside which the request was made, for as long as it waits.
    var call: WaitingCall? { state.withLock { $0.call }.flatMap { $0.isWaiting ? $0 : nil } }

    /// This request, and the one inside which the call was made that it belongs to, and so on. Empty when it has ended.
    var chain: some Sequence<ServedRequest> {
        sequence(first: self) { $0.call?.scope?.served }.prefix { !$0.hasEnded }
    }

    /// The tasks that wait for this request.
    var waitingTasks: [Int] { chain.compactMap { $0.call?.task } }

    /// Whether that request waits for this one.
    func isInside(_ other: ServedRequest) -> Bool { chain.dropFirst().contains { $0 === other } }
}

/// A call of this end, as a request knows it that was made inside it.
struct WaitingCall: Sendable {
    let requester: Requester
    /// The call's number, and the connection over which it was sent.
    let number: Int64
    let channel: Int
    /// The task that waits for it: `RunningTask.address`.
    let task: Int
    let scope: CallScope?

    /// Whether the call has not ended.
    var isWaiting: Bool { requester.waits(for: self) }
}

/// What a call says of the request inside which it is made.
struct CallPlace {
    /// The session in which the number counts; nil if the request is none of the other end's.
    let link: Link?
    let number: Int64

    /// Nil outside of all requests of which it must be known.
    init?(of scope: CallScope, for requester: Requester) {
        if let served = scope.served {
            var known = false
            for request in served.chain {
                known = true
                if request.link.requester === requester, let number = request.number {
                    self.init(request.link, number)
                    return
                }
            }
            if known {
                self.init(nil, 0)
                return
            }
        }
        guard let (link, number) = scope.worker?.requestOfThisTask, link.requester === requester else { return nil }
        self.init(link, number)
    }

    private init(_ link: Link?, _ number: Int64) { (self.link, self.number) = (link, number) }

    /// What the call says over this link.
    func number(over link: Link?) -> Int64 { link === self.link ? number : 0 }
}
