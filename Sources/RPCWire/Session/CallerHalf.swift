// The calling half of a link: which calls and posts may begin and under which numbers, what is sent again over a new
// connection, and how each call ends. Pure: events in, effects out, time passed in. `AnswererHalf` is its counterpart.
//
// The driver feeds one event at a time, under its lock. Still under the lock it appends the messages of the effects to their
// channels, so that messages leave in the order of their numbers. Then it frees the lock and does the rest. A channel is named by
// its number here, a call by its handle.

@usableFromInline
package struct CallerHalf: ~Copyable, Sendable {
    private let mostCallBytes: Int
    private let mostFrameBytes: Int
    @usableFromInline var calls = OutgoingCalls()
    var posts: PendingPosts
    /// The channel for new calls; nil while there is no connection.
    package internal(set) var channel: Int?
    /// Channels that take no new calls, but over which replies or acknowledgements may still come.
    var retired: [Int] = []
    /// The calls that wait although there is a channel, in order: for room in the channel, or for a place at the peer. A number whose
    /// call has ended may stand here too.
    private var line: ArraySlice<Int64> = []
    /// The highest number that was given to the channel, or that has arrived before.
    private var lastSent: Int64 = 0
    /// The highest number of a call or post that was ever given to a channel.
    package private(set) var lastNumber: Int64 = 0
    /// How many calls the peer runs at a time, and how many bytes these may have; what is beyond waits here.
    package private(set) var places = Amount(count: .max, bytes: .max)
    /// The calls that were sent and whose callers have given up, by their numbers, with the lengths of their messages. The peer
    /// may not know that yet, and they keep their places there.
    private(set) var abandoned: [Int64: Int] = [:]
    private var abandonedBytes = 0
    private static let mostAbandoned = 65_536
    /// Whether new calls belong to a session that exists. It may be without a connection now.
    var hasSession = false
    package internal(set) var isClosed = false
    /// Whether there is no connection, and since the last one an attempt has failed or the peer did not answer.
    package internal(set) var isUnreachable = false
    /// Whether calls wait for the next connection while the peer cannot be reached, if nothing else is said of the call.
    let waitsForConnection: Bool
    /// Why there is no connection; nil if no reason is known.
    var reason: String?
    /// The most bytes that a message to the peer may have.
    package private(set) var frameLimit: Int
    /// When the driver's timer is due next and calls `expire`.
    package private(set) var wakesAt = Instant.distantFuture

    /// - Parameters:
    ///   - callBytes: how many bytes the calls may have that have not ended.
    ///   - postBytes: how many bytes the posts may have that the peer may not have.
    ///   - frameSize: the most bytes that this end puts into a message. The peer may take fewer.
    package init(callBytes: Int, postBytes: Int, frameSize: Int, waitsForConnection: Bool = true) {
        (mostCallBytes, mostFrameBytes, frameLimit) = (callBytes, frameSize, frameSize)
        self.waitsForConnection = waitsForConnection
        posts = PendingPosts(byteLimit: postBytes)
    }

    // MARK: queries

    /// How many calls have not ended. Inlinable for the reason that `AnswererHalf` gives.
    @inlinable package var pendingCalls: Int { calls.count }
    /// Whether the peer may lack the post of that number, so that it is kept.
    package func keepsPost(_ number: Int64) -> Bool { posts.keeps(number) }
    /// How many posts the peer may not have.
    package var pendingPosts: Int { posts.count }
    /// How many posts were lost since `close`.
    package var lostPosts: Int { posts.lost }
    /// About how much memory all pending calls and posts take.
    package var pendingBytes: Int { calls.byteCount + posts.byteCount }
    /// Why there is no connection, for the errors of callers whose time is over while they wait for one.
    package var unavailableReason: String { reason ?? "no connection was made" }
    /// Whether a call that has not ended may have left this end.
    package var mayHaveSent: Bool { calls.mayHaveSent }
    package var untoldRefusals: Int { posts.untoldRefusals }

    /// How long a message may be without its end. 64 bytes are left for the end, which has a number and a time.
    var longest: Int { frameLimit - 64 }

    /// Gives memory back that is not in use.
    package mutating func releaseRoom() {
        calls.releaseRoom(beyond: 0)
        posts.releaseRoom()
        if line.isEmpty { line = [] }
        if abandoned.isEmpty { abandoned = [:] }
    }

    /// Sets the most bytes that the peer takes in a message; nil if it has named no limit.
    package mutating func limitFrames(to size: Int?) {
        frameLimit = min(mostFrameBytes, max(64, size ?? .max))
    }

    /// Sets how many calls the peer runs at a time, and how many bytes these may have; nil if it has named no limit.
    package mutating func limitPlaces(to count: Int?, bytes: Int?) {
        places = Amount(count: max(1, count ?? .max), bytes: max(1, bytes ?? .max))
    }
}

// MARK: calls

extension CallerHalf {
    /// Begins a call, which then waits until the driver reports it by `sent`. Returns failures and never throws: debuggers and
    /// test libraries look at each thrown error, and cannot walk some frames of the caller's stack. `wakesAt` may be earlier
    /// afterwards: then the driver sets its timer to it.
    /// - Parameter isCrowded: whether the channel should get no more messages for now.
    /// - Returns: the number of the call, and whether the driver gives it to the channel now.
    package mutating func call(
        _ call: OutgoingCalls.Call, isCrowded: Bool = false, at now: Instant
    ) -> Result<(id: Int64, isSent: Bool), CallFailure> {
        if isClosed { return .failure(.closed(wasSent: false)) }
        guard calls.byteCount < mostCallBytes else { return .failure(.tooManyPending(mostBytes: mostCallBytes)) }
        if isUnreachable,
            Self.isEnded(call.persistence, mayHaveArrived: false, waitsForConnection: waitsForConnection)
        {
            return .failure(.unreachable(unavailableReason))
        }
        guard call.length <= longest else { return .failure(.tooLarge(call.length, most: frameLimit)) }
        guard call.deadline > now else { return .failure(.noTimeLeft) }
        let id = calls.start(call)
        let isSent = channel != nil && !isCrowded && line.isEmpty && !posts.wait && hasPlace(after: calls.sent)
        if !isSent, channel != nil { line.append(id) }
        wakesAt = min(wakesAt, call.deadline)
        return .success((id, isSent))
    }

    /// Whether the peer has a place for one more call, of any length, if it runs these.
    private func hasPlace(after sent: Amount) -> Bool {
        sent.count &+ abandoned.count < places.count && sent.bytes &+ abandonedBytes < places.bytes
    }

    /// The driver has given the call to a channel. Returns whether it may also have run in a session that is lost.
    package mutating func sent(_ id: Int64, at place: ChannelOffset) -> Bool {
        countSent(id)
        return calls.sent(id, at: place)
    }

    private mutating func countSent(_ number: Int64) {
        lastSent = max(lastSent, number)
        lastNumber = max(lastNumber, number)
    }

    /// A reply has come. Nil if no call waits for it over this channel.
    package mutating func replied(to id: Int64, over channel: Int) -> CallHandle? {
        // The answer to a call shows that all posts before it have arrived.
        if !posts.isEmpty, channel == self.channel { posts.release(through: id) }
        if let call = calls.replied(to: id, over: channel) { return call }
        if !abandoned.isEmpty, channel == self.channel { forgetAbandoned(id) }
        return nil
    }

    /// The call of that number; nil if it has ended, or was not sent over that channel.
    /// - Parameter channel: nil for any, and for a call that waits.
    package func call(numbered id: Int64, sentOver channel: Int?) -> CallHandle? {
        calls.handle(of: id, sentOver: channel)
    }

    /// Whether messages wait for the channel. Asked after replies.
    package var messagesWait: Bool { channel != nil && (!line.isEmpty || posts.wait) }

    /// Returns, once each, the channels that take no new calls and from which nothing is awaited any more. Called after replies.
    package mutating func takeFinished() -> [Int] {
        guard !retired.isEmpty else { return [] }
        let finished = retired.filter { !posts.isPending(on: $0) && !calls.isWaiting(on: $0) }
        retired.removeAll { finished.contains($0) }
        return finished
    }

    /// The peer refused a call before any work because it is going away. The call waits for the next connection.
    package mutating func refused(_ id: Int64, over channel: Int) -> CallerEffects {
        var effects = CallerEffects()
        guard let call = calls.refused(id, over: channel) else { return effects }
        if calls.isBound(call.id), let call = calls.withdraw(call.id) {
            effects.end([call]) { _ in .objectGone }
            effects.finished = takeFinished()
            return effects
        }
        effects.renumbered = [call]
        effects.finished = takeFinished()
        if self.channel != nil {
            joinLine(call.id)
        } else {
            effects.wantsConnection = true
            endUnreachable(&effects)
        }
        return effects
    }

    /// The caller's task was cancelled.
    package mutating func cancel(_ id: Int64) -> CallerEffects {
        var effects = CallerEffects()
        guard let call = calls.withdraw(id) else { return effects }
        effects.end([call]) { .cancelled(wasSent: $0) }
        abandon([call], &effects)
        return effects
    }

    /// Time has passed. Ends the calls whose deadlines are due.
    package mutating func expire(at now: Instant) -> CallerEffects {
        var effects = CallerEffects()
        let why = unavailableReason
        let isLost = channel == nil && retired.isEmpty
        let whyHeldBack = channel == nil ? nil : self.whyHeldBack
        let removed = calls.expire(at: now)
        effects.end(removed) { wasSent in
            if wasSent { return .deadlineExceeded(isLost ? why : nil) }
            return whyHeldBack.map { .heldBack($0) } ?? .unavailable(why)
        }
        abandon(removed, &effects)
        wakesAt = calls.nextDeadline ?? .distantFuture
        if wakesAt < .distantFuture { effects.wakeAt = wakesAt }
        return effects
    }

    /// Tells the peer that no caller waits any more for these calls, as far as they were sent.
    mutating func abandon(_ removed: [OutgoingCalls.Removed], _ effects: inout CallerEffects) {
        for call in removed where call.wasSent {
            var isOver = true
            if let channel = call.channel, channel == self.channel || retired.contains(channel) {
                effects.cancels.append((call.id, over: channel))
                isOver = channel == self.channel
            }
            // Kept until it is answered: if the connection is lost first, the peer is told again over the next one.
            if isOver, call.isInSession { rememberAbandoned(call) }
        }
        // Last, because a call of a finished channel would be taken for one of the session.
        effects.finished = takeFinished()
    }

    private var whyHeldBack: String {
        hasPlace(after: calls.sent)
            ? "the other end had not read earlier messages"
            : "the other end ran as many calls of this one as it may (maximumRequestsInFlight, maximumBytesInFlight)"
    }

    private mutating func rememberAbandoned(_ call: OutgoingCalls.Removed) {
        guard hasSession, abandoned.count < Self.mostAbandoned else { return }
        abandoned[call.id] = call.length
        abandonedBytes += call.length
    }

    private mutating func forgetAbandoned(_ id: Int64) {
        if let length = abandoned.removeValue(forKey: id) { abandonedBytes -= length }
    }

    mutating func forgetAbandoned(where isForgotten: (Int64) -> Bool) {
        for id in abandoned.keys where isForgotten(id) { forgetAbandoned(id) }
    }

    /// Whether a call ends instead of waiting for the next attempt to connect.
    private static func isEnded(_ persistence: Persistence, mayHaveArrived: Bool, waitsForConnection: Bool) -> Bool {
        switch persistence {
        // If it may have arrived, its answer may come when the session goes on.
        case .waits, .waitsAndRepeats: !waitsForConnection && !mayHaveArrived
        case .endsIfSent: mayHaveArrived
        case .ends: true
        }
    }

    /// Ends the calls that do not wait for the next attempt, if there is no connection for now.
    /// - Parameter isLasting: whether the next attempt would fail as well. Then all calls end that cannot have arrived.
    mutating func endUnreachable(_ effects: inout CallerEffects, isLasting: Bool = false) {
        guard isUnreachable else { return }
        let why = unavailableReason
        let waitsForConnection = waitsForConnection
        let removed = calls.withdrawWaiting { call, mayHaveArrived in
            isLasting && !mayHaveArrived
                || Self.isEnded(
                    call.persistence, mayHaveArrived: mayHaveArrived, waitsForConnection: waitsForConnection)
        }
        for call in removed where call.isInSession { rememberAbandoned(call) }
        effects.end(removed) { $0 ? .connectionLost(why) : .unreachable(why) }
    }
}

// MARK: what waits for the channel

extension CallerHalf {
    /// About how many bytes are taken at once.
    private static let mostTaken = 256 << 10

    /// The channel is ready, so all calls that are not sent wait for it; or there is none any more.
    /// - Parameter received: the highest number that the peer has.
    mutating func beginLine(received: Int64 = 0) {
        calls.count(over: channel)
        line = channel == nil ? [] : calls.waiting.map(\.id)[...]
        lastSent = received
    }

    /// Adds a call behind all others.
    mutating func joinLine(_ id: Int64) { line.append(id) }

    /// Returns messages that are to be sent now, in the order of their numbers; none when no more can be sent. Posts pass calls
    /// for which the peer has no place. Such a call gets a new number later, because a peer takes numbers in rising order only.
    package mutating func takeWaiting(peerRunsLibrary: Bool) -> CallerEffects {
        var effects = CallerEffects()
        var (sent, room) = (calls.sent, Self.mostTaken)
        while channel != nil, room > 0 {
            let call = nextInLine
            let mayCall = call != nil && hasPlace(after: sent)
            // First: the new number is higher than those of all posts that wait, which go before it.
            if let call, mayCall, call.id <= lastSent, let renumbered = calls.renumberWaiting(call.id) {
                effects.renumbered.append(renumbered)
                line[line.startIndex] = renumbered.id
                continue
            }
            if let post = posts.next(isKept: peerRunsLibrary), post.number < call?.id ?? .max || !mayCall {
                posts.give(post.number, isKept: peerRunsLibrary)
                effects.sends.append(.post(post.message, number: post.number))
                countSent(post.number)
                room -= post.message.count
            } else if let call, mayCall {
                line.removeFirst()
                effects.sends.append(.call(call.handle, id: call.id))
                countSent(call.id)
                sent.add(call.length)
                room -= call.length
            } else {
                break
            }
        }
        return effects
    }

    /// The first call in the line; calls that have ended are taken out.
    private var nextInLine: (id: Int64, length: Int, handle: CallHandle)? {
        mutating get {
            while let id = line.first {
                if let call = calls.waiting(id) { return (id, call.length, call.handle) }
                line.removeFirst()
            }
            return nil
        }
    }
}

// MARK: posts

extension CallerHalf {
    /// Begins a post. The driver gives it to the channel, or it is kept until there is a channel with room for it.
    /// - Parameters:
    ///   - message: the message without its end, which has the number.
    ///   - ownBytes: how many of its last bytes are for peers that run this library only: its metadata.
    ///   - isCrowded: whether the channel should get no more messages for now.
    ///   - peerRunsLibrary: whether the peer runs this library, and so acknowledges posts.
    /// - Returns: its number, and whether the driver gives it to the channel now.
    package mutating func post(
        _ message: UnsafeRawBufferPointer, ownBytes: Int = 0, until deadline: Instant, isCrowded: Bool = false,
        peerRunsLibrary: Bool, kind: PostKind = .free
    ) -> Result<(number: Int64, isSent: Bool), CallFailure> {
        if isClosed { return .failure(.closed(wasSent: false)) }
        guard !posts.isFull else { return .failure(.tooManyPosts(mostBytes: posts.byteLimit)) }
        guard message.count <= longest else { return .failure(.tooLarge(message.count, most: frameLimit)) }
        let number = calls.takeNumber()
        if channel == nil || isCrowded || posts.wait {
            // Where only the channel is crowded, the post belongs to the session already.
            let end = channel == nil ? deadline : .distantFuture
            posts.keep(message, ownBytes: ownBytes, number: number, until: end, kind: kind)
            return .success((number, false))
        }
        posts.send(message, ownBytes: ownBytes, number: number, isKept: peerRunsLibrary, kind: kind)
        countSent(number)
        return .success((number, true))
    }

    /// A post was refused. Returns whether the log is told now: for each post that is itself at fault, but only for the first
    /// of many that are refused for another reason.
    package mutating func countRefusal(_ failure: CallFailure) -> Bool {
        if case .tooLarge = failure { return true }
        return posts.countRefusal()
    }

    /// Returns how many refused posts the log must be told of. 0 until at most half of the permitted bytes are pending: before
    /// that, posts could be refused again at once.
    package mutating func takeUntoldRefusals() -> Int { posts.hasRoom ? posts.takeUntoldRefusals() : 0 }

    /// The peer has all posts up to this number that it was given over this channel.
    package mutating func acknowledged(posts number: Int64, over channel: Int) -> CallerEffects {
        var effects = CallerEffects()
        posts.acknowledged(number, over: channel)
        effects.isSettled = posts.takeSettled()
        effects.finished = takeFinished()
        return effects
    }

    /// The peer has left in good order and takes no more posts. Pending posts are lost.
    package mutating func otherEndLeft() { _ = posts.loseAll() }
}
