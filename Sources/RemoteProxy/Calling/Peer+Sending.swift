// How calls and posts get into a connection's outgoing queue: in the order of their numbers, those that had to wait for
// it too. Under the peer's lock.

import JSONCodec
import RPCSockets
import RPCWire
import Synchronization

extension Peer {
    /// Sends a post, or keeps it in its place among what waits until there is a connection.
    func send(post call: OutgoingCall) {
        call.begin(at: loop.now, timeout)
        var refusal: Refusal?
        var (isTold, more) = (true, 0)
        // What comes after a post may take long: only who is on the loop anyway leaves it to the end of the turn.
        let isOnLoop = loop.isCurrent
        let after = state.withLock { state -> AfterLock in
            refusal = state.refusal(of: call, settings)
            if let refusal {
                isTold = state.isFirst(refusal)
                return AfterLock()
            }
            if state.refusedPosts > 0 { more = state.takeRefused(settings) }
            return enter(post: call.message, deadline: call.deadline, isOnLoop: isOnLoop, &state)
        }
        if isTold, let error = refusal?.error(call, self) { log("a post was not sent: \(error)") }
        if more > 0 { log(Self.moreRefused(more)) }
        spareCalls.give(call)
        after.perform(self)
    }

    static func moreRefused(_ count: Int) -> String {
        "\(LostPosts.text(count)) not sent either, for the reason that was told with the first"
    }

    private func enter(
        post message: JSONOutput, deadline: Instant, isOnLoop: Bool, _ state: inout State
    ) -> AfterLock {
        let number = state.outgoing.takeNumber()
        guard let connection = state.connection else {
            state.posts.keep(message.bytes, number: number, deadline: deadline)
            return AfterLock(wantsConnection: true)
        }
        if connection.isOurKind { state.posts.keep(message.bytes, number: number) }
        dispatch(post: message, number, over: connection, &state)
        return flushing(connection, atOnce: isOnLoop, &state)
    }

    private func dispatch(post message: JSONOutput, _ number: Int64, over connection: Connection, _ state: inout State)
    {
        MessageEncoder.closeRequest(
            id: nil, timeout: nil, number: connection.isOurKind ? number : nil, in: message)
        connection.stream.append(message.bytes, framing: connection.outgoingFraming)
        state.lastPostGiven = max(state.lastPostGiven, number)
    }

    /// Ends the message and puts it into the connection's outgoing queue.
    func dispatch(
        _ call: OutgoingCall, _ id: Int64, over connection: Connection, at now: Instant,
        _ outgoing: inout OutgoingCalls<WaitingCall>
    ) {
        call.writeAgain()
        let message = call.message
        let open = message.count
        MessageEncoder.closeRequest(
            id: id, timeout: timeLeft(for: call, over: connection, at: now), in: message)
        // Kept open: if the connection is lost, the call may go out again.
        let offset: UInt64
        if let large = Bytes(takingLarge: message) {
            offset = connection.stream.append(shared: large, framing: connection.outgoingFraming)
            call.given = large[0..<open]
        } else {
            offset = connection.stream.append(message.bytes, framing: connection.outgoingFraming)
            message.truncate(to: open)
        }
        call.mayHaveRun = outgoing.sent(id, at: .init(stream: connection.number, offset: offset))
    }

    /// Sends the calls that wait, and the posts that the other end may not have, in the order of their numbers.
    /// - Returns: how many posts were lost, because they are too late or too large to be sent.
    func sendWaiting(over connection: Connection, _ state: inout State) -> Int {
        var calls = state.outgoing.waiting[...]
        let now = loop.now
        let output = JSONOutput()
        let limit = state.frameLimit - 64
        let lost = state.posts.drop { length, deadline in deadline <= now || length > limit }
        state.lostPosts += lost
        for (number, message, _) in state.posts.messages {
            while let (id, waiting) = calls.first, id < number {
                calls.removeFirst()
                dispatch(waiting.call, id, over: connection, at: now, &state.outgoing)
            }
            output.removeAll()
            message.withUnsafeBytes { output.append($0) }
            dispatch(post: output, number, over: connection, &state)
        }
        for (id, waiting) in calls { dispatch(waiting.call, id, over: connection, at: now, &state.outgoing) }
        // Nobody of another kind will say that it has them.
        if !connection.isOurKind { state.posts.release(through: state.posts.last) }
        return lost
    }

    /// The time left in milliseconds, for a peer of our own kind, and only when it is not what the peer assumes.
    private func timeLeft(for call: OutgoingCall, over connection: Connection, at now: Instant) -> Int64? {
        guard connection.isOurKind, call.deadline < .distantFuture else { return nil }
        // A call made just now under the default timeout has all of it left but for the microseconds since.
        guard call.deadline < now.advanced(byNanoseconds: timeout - 1_000_000) else { return nil }
        // Rounded up: the caller is told by its own clock, and the peer then stops what nobody waits for.
        return max(0, now.nanoseconds(to: call.deadline) / 1_000_000) + 1
    }

    /// The other end has all posts up to this number that it was given over this connection.
    func acknowledged(posts number: Int64, over connection: Connection) {
        let (settled, finished) = state.withLock { state in
            if let given = state.unsettled[connection.number] {
                let left = given.filter { $0 > number }
                state.unsettled[connection.number] = left.isEmpty ? nil : left
            } else {
                state.posts.release(through: number)
            }
            return (state.takeSettled(), state.takeFinishedLeavers())
        }
        for connection in finished ?? [] { connection.finishWhenIdle() }
        settled?()
    }
}

extension Peer.State {
    /// A post is refused. Answers whether the log is to be told now: of the first of many that are refused for the same reason,
    /// and of each that is at fault itself.
    mutating func isFirst(_ refusal: Refusal) -> Bool {
        if case .tooLarge = refusal { return true }
        refusedPosts += 1
        return refusedPosts == 1
    }

    /// There is room again. How many refused posts the log is to be told of, once there is enough room for that to stay so.
    mutating func takeRefused(_ settings: Peer.Settings) -> Int {
        guard posts.byteCount <= settings.maximumPendingPostBytes / 2 else { return 0 }
        defer { refusedPosts = 0 }
        return refusedPosts - 1
    }
}
