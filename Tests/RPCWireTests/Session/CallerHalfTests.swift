// The calling half, event by event: what may begin, what is sent again and in which order, and how each call ends.

import RPCWire
import Testing

@Suite struct `The calling half` {
    private static let start = Instant(nanoseconds: 0)
    private static let due = Instant(nanoseconds: 1_000)

    private func half(callBytes: Int = 100_000, postBytes: Int = 100, frame: Int = 164) -> CallerHalf {
        CallerHalf(callBytes: callBytes, postBytes: postBytes, frameSize: frame)
    }

    /// Begins a call; nil if it is refused.
    private func call(
        _ word: UInt, in half: inout CallerHalf, _ persistence: Persistence = .waits, length: Int = 10,
        deadline: Instant = due, over channel: Int? = nil, at offset: UInt64 = 0
    ) -> Int64? {
        let call = OutgoingCalls.Call(CallHandle(word: word), length: length, deadline: deadline, persistence)
        guard case .success(let begun) = half.call(call, at: Self.start) else { return nil }
        let id = begun.id
        if let channel { _ = half.sent(id, at: .init(channel: channel, offset: offset)) }
        return id
    }

    private func failure(
        _ half: inout CallerHalf, _ persistence: Persistence = .waits, length: Int = 10, deadline: Instant = due
    ) -> CallFailure? {
        let call = OutgoingCalls.Call(CallHandle(word: 9), length: length, deadline: deadline, persistence)
        if case .failure(let failure) = half.call(call, at: Self.start) { return failure }
        return nil
    }

    private func post(_ text: String, in half: inout CallerHalf, peerRunsLibrary: Bool = true, deadline: Instant = due)
        -> Result<Int64, CallFailure>
    {
        var text = text
        return text.withUTF8 {
            half.post(UnsafeRawBufferPointer($0), until: deadline, peerRunsLibrary: peerRunsLibrary).map(\.number)
        }
    }

    @discardableResult
    private func attach(
        _ channel: Int, to half: inout CallerHalf, _ beginning: CallerHalf.Beginning = .anew,
        peerRunsLibrary: Bool = true
    ) -> CallerEffects? {
        attach(channel, to: &half, beginning, peerRunsLibrary: peerRunsLibrary, at: Self.start)
    }

    /// Attaches a channel, and takes what has waited for it.
    private func attach(
        _ channel: Int, to half: inout CallerHalf, _ beginning: CallerHalf.Beginning, peerRunsLibrary: Bool = true,
        at now: Instant
    ) -> CallerEffects? {
        guard var effects = half.attach(channel, beginning, at: now) else { return nil }
        effects.sends = half.takeWaiting(peerRunsLibrary: peerRunsLibrary).sends
        return effects
    }

    private func lose(
        _ channel: Int, _ half: inout CallerHalf, sent: UInt64 = .max, sessionGoesOn: Bool = true
    ) -> CallerEffects {
        half.lost(
            channel, sent: sent, because: "lost", sessionGoesOn: sessionGoesOn)
    }

    private func words(_ effects: CallerEffects?) -> [String] {
        (effects?.sends ?? []).map { sent in
            switch sent {
            case .call(let call, let id): "call \(call.word) as \(id)"
            case .post(let message, let number): "post \(message) as \(number)"
            }
        }
    }

    private func ended(_ effects: CallerEffects?) -> [UInt: CallFailure] {
        Dictionary(uniqueKeysWithValues: (effects?.ended ?? []).map { ($0.call.word, $0.failure) })
    }

    // MARK: what may begin

    /// Row C15 of "What became of my call".
    @Test func `what may not begin is told why`() {
        var half = half(callBytes: 1)
        #expect(failure(&half, length: 101) == .tooLarge(101, most: 164))
        #expect(failure(&half, deadline: Self.start) == .noTimeLeft)
        #expect(failure(&half, .ends) == nil)
        #expect(failure(&half) == .tooManyPending(mostBytes: 1))
        #expect(half.unreachable(because: "no route").ended.map(\.failure) == [.unreachable("no route")])
        #expect(failure(&half, .ends) == .unreachable("no route"))
        #expect(failure(&half, .endsIfSent) == nil)
        #expect(ended(half.close()) == [9: .closed(wasSent: false)])
        #expect(failure(&half) == .closed(wasSent: false))
        #expect(half.pendingCalls == 0)
    }

    @Test func `the driver sets its timer only for the earliest deadline`() throws {
        var half = half()
        let deadlines: [Int64] = [500, 700, 300]
        var due: [Int64] = []
        for deadline in deadlines {
            let deadline = Instant(nanoseconds: deadline)
            _ = try half.call(.init(CallHandle(word: 1), length: 1, deadline: deadline), at: Self.start).get()
            due.append(half.wakesAt.nanoseconds)
        }
        #expect(due == [500, 500, 300])
        let effects = half.expire(at: Instant(nanoseconds: 300))
        #expect(effects.ended.count == 1)
        #expect(effects.wakeAt == Instant(nanoseconds: 500))
        #expect(half.wakesAt == Instant(nanoseconds: 500))
    }

    @Test func `a limit that the other end names holds for calls that wait`() {
        var half = half(frame: 1_064)
        let small = call(1, in: &half, length: 100)
        _ = call(2, in: &half, length: 101)
        half.limitFrames(to: 164)
        let effects = attach(1, to: &half)
        #expect(ended(effects) == [2: .tooLarge(101, most: 164)])
        #expect(words(effects) == ["call 1 as \(small ?? 0)"])
        half.limitFrames(to: nil)
        #expect(half.frameLimit == 1_064)
    }

    // MARK: replies, cancellation, deadlines

    @Test func `a reply ends a call once`() {
        var half = half()
        attach(1, to: &half)
        let id = call(7, in: &half, over: 1) ?? 0
        #expect(half.replied(to: id, over: 2) == nil)
        #expect(half.replied(to: id, over: 1)?.word == 7)
        #expect(half.replied(to: id, over: 1) == nil)
        #expect(half.cancel(id).ended.isEmpty)
    }

    @Test func `a cancelled call is stopped at the other end if it was sent`() {
        var half = half()
        let waiting = call(1, in: &half) ?? 0
        let first = half.cancel(waiting)
        #expect(ended(first) == [1: .cancelled(wasSent: false)])
        #expect(first.cancels.isEmpty)
        attach(3, to: &half)
        let sent = call(2, in: &half, over: 3) ?? 0
        let second = half.cancel(sent)
        #expect(ended(second) == [2: .cancelled(wasSent: true)])
        #expect(second.cancels.map(\.id) == [sent])
        #expect(second.cancels.map(\.over) == [3])
    }

    @Test func `a cancellation is repeated over the next connection until it is answered`() {
        var half = half()
        attach(1, to: &half)
        let ids = (1...3).map { call($0, in: &half, over: 1) ?? 0 }
        for id in ids { _ = half.cancel(id) }
        #expect(half.replied(to: ids[0], over: 1) == nil)
        _ = lose(1, &half)
        let effects = attach(2, to: &half, .resumed(received: ids[1]))
        #expect(effects?.cancels.map(\.id) == [ids[1]])
        #expect(effects?.cancels.map(\.over) == [2])
    }

    /// Over the connection that was left, two calls are waited for: their ends come one by one or together.
    @Test(arguments: [true, false])
    func `an end over a connection that was left is no business of the session that follows`(together: Bool) {
        var half = half()
        attach(1, to: &half)
        let ids = (1...2).map { call($0, in: &half, over: 1) ?? 0 }
        _ = half.retire(1, because: "stopping")
        attach(2, to: &half)
        let effects = together ? [half.expire(at: Self.due)] : ids.map { half.cancel($0) }
        #expect(effects.flatMap(\.cancels).map(\.id) == ids)
        #expect(effects.flatMap(\.cancels).allSatisfy { $0.over == 1 })
        #expect(effects.map(\.finished) == (together ? [[1]] : [[], [1]]))
        _ = lose(2, &half)
        #expect(attach(3, to: &half, .resumed(received: 9))?.cancels.isEmpty == true)
    }

    @Test func `a deadline says whether the call was sent, and why there is no connection`() {
        var half = half()
        attach(1, to: &half)
        _ = call(1, in: &half, over: 1)
        _ = lose(1, &half)
        _ = call(2, in: &half)
        #expect(half.expire(at: Instant(nanoseconds: 999)).ended.isEmpty)
        #expect(ended(half.expire(at: Self.due)) == [1: .deadlineExceeded("lost"), 2: .unavailable("lost")])
        attach(2, to: &half)
        _ = call(3, in: &half, over: 2)
        #expect(ended(half.expire(at: Self.due)) == [3: .deadlineExceeded(nil)])
    }

    // MARK: connections

    @Test func `calls and posts go out in the order in which they were made`() {
        var half = half()
        _ = call(1, in: &half)
        _ = post("a", in: &half)
        _ = post("late", in: &half, deadline: Self.start)
        _ = call(2, in: &half)
        _ = post("b", in: &half)
        let effects = attach(1, to: &half)
        #expect(words(effects) == ["call 1 as 1", "post a as 2", "call 2 as 4", "post b as 5"])
        #expect(effects?.dropped == 1)
    }

    /// Row C5 of "What became of my call".
    @Test func `a resumed session is sent what has not arrived, and nothing else`() {
        var half = half()
        attach(1, to: &half)
        _ = call(1, in: &half, over: 1, at: 0)
        _ = post("a", in: &half)
        _ = call(2, in: &half, over: 1, at: 50)
        _ = post("b", in: &half)
        _ = lose(1, &half, sent: 60)
        let effects = attach(2, to: &half, .resumed(received: 2))
        #expect(words(effects) == ["call 2 as 3", "post b as 4"])
        #expect(half.replied(to: 1, over: 2)?.word == 1)
        #expect(half.acknowledged(posts: 4, over: 2).lost == LostPosts())
        #expect(half.pendingPosts == 0)
    }

    @Test func `another session fails what may have arrived and repeats what may be repeated`() {
        var half = half()
        attach(1, to: &half)
        _ = call(1, in: &half, over: 1, at: 0)
        _ = call(2, in: &half, .waitsAndRepeats, over: 1, at: 10)
        _ = post("a", in: &half)
        _ = call(3, in: &half, over: 1, at: 20)
        _ = lose(1, &half, sent: 20)
        _ = post("b", in: &half)
        let effects = attach(2, to: &half)
        #expect(ended(effects) == [1: .connectionLost("lost; the server does not know the session")])
        #expect(words(effects) == ["call 2 as 2", "call 3 as 4", "post b as 5"])
        #expect(effects?.lost == LostPosts(unacknowledged: 1))
    }

    @Test func `a lost session without another one ends what has no answer to wait for`() {
        var half = half()
        attach(1, to: &half)
        _ = call(1, in: &half, over: 1)
        _ = call(2, in: &half, .waitsAndRepeats, over: 1)
        let effects = lose(1, &half, sessionGoesOn: false)
        #expect(ended(effects) == [1: .connectionLost("lost")])
        #expect(effects.renumbered.map(\.handle.word) == [2])
        #expect(effects.renumbered.map(\.id) == [3])
    }

    @Test func `a refused call goes out over the connection that has taken the place of the other`() {
        var half = half()
        attach(1, to: &half)
        let first = call(1, in: &half, over: 1) ?? 0
        let second = call(2, in: &half, .ends, over: 1) ?? 0
        _ = half.retire(1, because: "stopping")
        let waits = half.refused(first, over: 1)
        #expect(waits.wantsConnection)
        #expect(waits.sends.isEmpty)
        let effects = attach(2, to: &half)
        #expect(words(effects) == ["call 1 as \(waits.renumbered.first?.id ?? 0)"])
        let goes = half.refused(second, over: 1)
        #expect(words(half.takeWaiting(peerRunsLibrary: true)) == ["call 2 as \(goes.renumbered.first?.id ?? 0)"])
        #expect(goes.finished == [1])
        #expect(half.refused(second, over: 1).renumbered.isEmpty)
    }

    @Test func `a connection that is left ends when it owes neither replies nor acknowledgements`() {
        var half = half()
        attach(1, to: &half)
        let id = call(1, in: &half, over: 1) ?? 0
        guard case .success(let number) = post("a", in: &half) else { return #expect(Bool(false), "it was refused") }
        let left = half.retire(1, because: "stopping")
        #expect(left?.reportOver == 1)
        #expect(left?.finished == [])
        #expect(half.retire(1, because: "again") == nil)
        #expect(half.pendingPosts == 1)
        #expect(half.replied(to: id, over: 1)?.word == 1)
        #expect(half.takeFinished() == [])
        #expect(half.acknowledged(posts: number, over: 1).finished == [1])
        #expect(half.pendingPosts == 0)
        #expect(half.takeFinished() == [])
    }

    @Test func `a post that was sent in time is sent again, however late the session goes on`() {
        var half = half()
        _ = post("a", in: &half)
        attach(1, to: &half)
        _ = post("b", in: &half)
        _ = lose(1, &half)
        let effects = attach(2, to: &half, .resumed(received: 0), at: .distantFuture)
        #expect(words(effects) == ["post a as 1", "post b as 2"])
    }

    @Test func `posts that a connection was left with are lost with it and never sent again`() {
        var half = half()
        attach(1, to: &half)
        _ = post("a", in: &half)
        _ = half.retire(1, because: "stopping")
        #expect(words(attach(2, to: &half)) == [])
        #expect(lose(1, &half).lost == LostPosts(unacknowledged: 1))
        #expect(half.channel == 2)
    }

    @Test func `an end of another kind is sent each post once and acknowledges none`() {
        var half = half()
        _ = post("a", in: &half)
        #expect(words(attach(1, to: &half, peerRunsLibrary: false)) == ["post a as 1"])
        _ = post("b", in: &half, peerRunsLibrary: false)
        #expect(half.pendingPosts == 0)
        _ = lose(1, &half, sessionGoesOn: false)
        #expect(words(attach(2, to: &half, peerRunsLibrary: false)) == [])
    }

    @Test func `an unreachable end ends the calls that do not wait for it`() {
        var half = half()
        attach(1, to: &half)
        _ = call(1, in: &half, .endsIfSent, over: 1, at: 0)
        _ = call(2, in: &half, .endsIfSent, over: 1, at: 10)
        _ = call(3, in: &half, .ends, over: 1, at: 20)
        _ = call(4, in: &half, .waits, over: 1, at: 0)
        _ = lose(1, &half, sent: 10)
        #expect(half.isUnreachable == false)
        let effects = half.unreachable(because: "refused")
        #expect(ended(effects) == [1: .connectionLost("refused"), 3: .unreachable("refused")])
        #expect(half.isUnreachable == true)
        // The one that had been sent is stopped if the session goes on after all.
        let resumed = attach(2, to: &half, .resumed(received: 1))
        #expect(resumed?.cancels.map(\.id) == [1])
        #expect(half.isUnreachable == false)
        #expect(half.unreachable(because: "too late").ended.isEmpty)
    }

    @Test func `calls that cannot have arrived end when the next attempt would fail as well`() {
        var half = half()
        attach(1, to: &half)
        _ = call(1, in: &half, over: 1, at: 0)
        _ = call(2, in: &half, .waitsAndRepeats, over: 1, at: 10)
        _ = lose(1, &half, sent: 10)
        _ = call(3, in: &half)
        let effects = half.unreachable(because: "no such host", isLasting: true)
        #expect(ended(effects) == [2: .unreachable("no such host"), 3: .unreachable("no such host")])
        // A later call waits for the next attempt, which may be another story.
        #expect(failure(&half) == nil)
    }

    @Test func `calls that wait end when the other end does not let this one in`() {
        var half = half()
        _ = call(1, in: &half)
        #expect(ended(half.turnedAway(because: "no token")) == [1: .turnedAway("no token", wasSent: false)])
    }

    @Test func `the reason why there is no connection is the last one that is known`() {
        var half = half()
        #expect(half.unavailableReason == "no connection was made")
        half.waitsForGreeting("no answer to the greeting")
        #expect(half.unavailableReason == "no answer to the greeting")
        half.unavailable(because: "refused")
        half.waitsForGreeting("no answer to the greeting")
        #expect(half.unavailableReason == "refused")
    }

    // MARK: posts and closing

    @Test func `posts have a limit, and the log hears of the first that is refused and of how many more`() {
        var half = half(postBytes: 4)
        _ = post("1234", in: &half)
        for isFirst in [true, false, false] {
            guard case .failure(let failure) = post("5", in: &half) else {
                return #expect(Bool(false), "it was taken")
            }
            #expect(failure == .tooManyPosts(mostBytes: 4))
            #expect(half.countRefusal(failure) == isFirst)
        }
        #expect(half.countRefusal(.tooLarge(1, most: 1)) == true)
        #expect(half.takeUntoldRefusals() == 0)
        attach(1, to: &half)
        _ = half.acknowledged(posts: 1, over: 1)
        #expect(half.takeUntoldRefusals() == 2)
        #expect(half.takeUntoldRefusals() == 0)
    }

    @Test func `after closing the pending posts are still sent, until the last one is settled`() {
        var half = half()
        attach(1, to: &half)
        let id = call(1, in: &half, over: 1) ?? 0
        _ = post("a", in: &half)
        let closed = half.close()
        #expect(ended(closed) == [1: .closed(wasSent: true)])
        #expect(closed?.cancels.map(\.id) == [id])
        #expect(closed?.reportOver == 1)
        #expect(half.close() == nil)
        _ = lose(1, &half)
        let again = attach(2, to: &half, .resumed(received: id))
        #expect(words(again) == ["post a as 2"])
        #expect(again?.reportOver == 2)
        #expect(again?.isSettled == false)
        #expect(half.acknowledged(posts: 2, over: 2).isSettled)
        #expect(!half.acknowledged(posts: 2, over: 2).isSettled)
        #expect(attach(3, to: &half) == nil)
    }

    @Test func `the end gives up what is pending and says why`() {
        var half = half()
        attach(1, to: &half)
        _ = post("a", in: &half)
        _ = lose(1, &half)
        _ = post("bc", in: &half)
        _ = half.close()
        let effects = half.end(because: "closed")
        #expect(effects.lost == LostPosts(unsent: 1, unacknowledged: 1))
        #expect(effects.lossReason == "closed; lost")
        #expect(half.lostPosts == 2)
        #expect(half.pendingPosts == 0)
        #expect(attach(2, to: &half) == nil)
    }

    // MARK: what waits for room or for a place

    /// Takes what waits; the driver reports each call as sent.
    private func taken(_ half: inout CallerHalf, over channel: Int = 1) -> [String] {
        let effects = half.takeWaiting(peerRunsLibrary: true)
        for case .call(_, let id) in effects.sends { _ = half.sent(id, at: .init(channel: channel, offset: 0)) }
        return words(effects)
    }

    /// Row C13 of "What became of my call".
    @Test func `while a channel is crowded messages wait in order, and none passes another`() throws {
        var half = half()
        attach(1, to: &half)
        var isFirst = true
        for text in ["a", "b"] {
            var text = text
            let (number, isSent) = try text.withUTF8 {
                try half.post(
                    UnsafeRawBufferPointer($0), until: Self.due, isCrowded: isFirst, peerRunsLibrary: true
                ).get()
            }
            #expect(!isSent && number > 0)
            isFirst = false
        }
        let call = try half.call(.init(CallHandle(word: 7), length: 10, deadline: Self.due), at: Self.start).get()
        #expect(!call.isSent, "posts wait before it")
        #expect(half.messagesWait == true)
        #expect(taken(&half) == ["post a as 1", "post b as 2", "call 7 as 3"])
        #expect(half.messagesWait == false)
        #expect(taken(&half) == [])
        #expect(half.pendingPosts == 2)
        let direct = try half.call(.init(CallHandle(word: 8), length: 10, deadline: Self.due), at: Self.start).get()
        #expect(direct.isSent)
    }

    @Test func `what waits is taken in parts, and the rest goes on where it stopped`() {
        var half = half(postBytes: 10_000_000, frame: 1 << 20)
        for number in 0..<10 { _ = post("\(number)" + String(repeating: "x", count: 100_000), in: &half) }
        #expect(half.attach(1, .anew, at: Self.start) != nil)
        var parts: [Int] = []
        while case let sends = half.takeWaiting(peerRunsLibrary: true).sends, !sends.isEmpty {
            parts.append(sends.count)
        }
        #expect(parts == [3, 3, 3, 1])
        // A connection that is lost before all were sent: the session goes on with those that have not arrived.
        _ = lose(1, &half)
        let again = attach(2, to: &half, .resumed(received: 8))
        #expect(again?.sends.count == 2)
    }

    @Test func `posts that were not sent again before the session ended have not arrived, and are sent in the next`() {
        var half = half(postBytes: 10_000_000, frame: 1 << 20)
        for number in 0..<6 { _ = post("\(number)" + String(repeating: "x", count: 100_000), in: &half) }
        #expect(attach(1, to: &half)?.sends.count == 3)
        _ = half.takeWaiting(peerRunsLibrary: true)
        _ = lose(1, &half)
        // All six were given away, two arrived, and three more are given to the next connection.
        let resumed = attach(2, to: &half, .resumed(received: 2))
        #expect(resumed?.sends.count == 3)
        _ = lose(2, &half)
        let anew = attach(3, to: &half)
        #expect(anew?.lost == LostPosts(unacknowledged: 3))
        #expect(anew?.sends.count == 1)
    }

    @Test
    func `calls wait for a place at the other end, in order, and a cancelled one keeps its place until it is answered`()
    {
        var half = half()
        attach(1, to: &half)
        half.limitPlaces(to: 2, bytes: nil)
        var sent: [Int64] = []
        for word in 1...5 as ClosedRange<UInt> {
            let call = OutgoingCalls.Call(CallHandle(word: word), length: 10, deadline: Self.due)
            guard case .success(let begun) = half.call(call, at: Self.start) else { return #expect(Bool(false)) }
            #expect(begun.isSent == (word <= 2))
            guard begun.isSent else { continue }
            _ = half.sent(begun.id, at: .init(channel: 1, offset: 0))
            sent.append(begun.id)
        }
        #expect(taken(&half) == [])
        _ = half.cancel(sent[0])
        #expect(taken(&half) == [], "the other end may still run it")
        #expect(half.replied(to: sent[0], over: 1) == nil)
        #expect(taken(&half) == ["call 3 as 3"])
        _ = half.cancel(4)
        #expect(half.replied(to: sent[1], over: 1)?.word == 2)
        #expect(taken(&half) == ["call 5 as 5"])
        #expect(half.messagesWait == false)
    }

    @Test func `bytes of calls are limited as their number is, and a call may be longer than all`() {
        var half = half(frame: 1_064)
        attach(1, to: &half)
        half.limitPlaces(to: nil, bytes: 100)
        let long = call(1, in: &half, length: 900, over: 1)
        #expect(long != nil && call(2, in: &half, length: 1) != nil)
        #expect(taken(&half) == [])
        #expect(half.replied(to: long ?? 0, over: 1)?.word == 1)
        #expect(taken(&half) == ["call 2 as 2"])
    }

    /// Sends a call, has another wait for its place, and sends a post past that one.
    /// - Returns: the number of the first call. The others have 2 and 3.
    private func passWaitingCall(in half: inout CallerHalf) -> Int64 {
        attach(1, to: &half)
        half.limitPlaces(to: 1, bytes: nil)
        let first = call(1, in: &half, over: 1) ?? 0
        _ = call(2, in: &half)
        #expect(post("a", in: &half) == .success(3))
        return first
    }

    @Test func `a post passes calls that wait for a place, which then get higher numbers`() {
        var half = half()
        let first = passWaitingCall(in: &half)
        #expect(half.replied(to: first, over: 1)?.word == 1)
        let effects = half.takeWaiting(peerRunsLibrary: true)
        #expect(words(effects) == ["call 2 as 4"] && effects.renumbered.map(\.id) == [4])
        // The same where the session goes on: the other end has number 3, and would take the call for one that came before.
        var again = self.half()
        attach(1, to: &again)
        again.limitPlaces(to: 1, bytes: nil)
        _ = call(1, in: &again, over: 1)
        _ = call(2, in: &again)
        _ = post("a", in: &again)
        _ = lose(1, &again)
        _ = again.attach(2, .resumed(received: 3), at: Self.start)
        #expect(again.replied(to: 1, over: 2)?.word == 1)
        #expect(words(again.takeWaiting(peerRunsLibrary: true)) == ["call 2 as 4"])
    }

    @Test func `a call that posts have passed goes behind those that wait, in the order of the numbers`() {
        var half = half()
        let first = passWaitingCall(in: &half)
        // The channel takes no more for now.
        for text in ["b", "c"] {
            var text = text
            let kept = text.withUTF8 {
                half.post(UnsafeRawBufferPointer($0), until: Self.due, isCrowded: true, peerRunsLibrary: true)
            }
            guard case .success((_, false)) = kept else { return #expect(Bool(false), "\(kept)") }
        }
        #expect(half.replied(to: first, over: 1)?.word == 1)
        let effects = half.takeWaiting(peerRunsLibrary: true)
        #expect(words(effects) == ["post b as 4", "post c as 5", "call 2 as 6"] && effects.renumbered.map(\.id) == [6])
    }

    @Test func `a call of a lost session that is given up before it is sent again keeps no place`() {
        var half = half()
        attach(1, to: &half)
        _ = call(1, in: &half, .waitsAndRepeats, over: 1)
        _ = lose(1, &half)
        _ = half.attach(2, .anew, at: Self.start)
        half.limitPlaces(to: 1, bytes: nil)
        #expect(ended(half.cancel(1)) == [1: .cancelled(wasSent: true)])
        let next = OutgoingCalls.Call(CallHandle(word: 2), length: 10, deadline: Self.due)
        guard case .success(let begun) = half.call(next, at: Self.start) else { return #expect(Bool(false)) }
        #expect(begun.isSent || words(half.takeWaiting(peerRunsLibrary: true)) == ["call 2 as \(begun.id)"])
    }

    /// Row C13 of "What became of my call".
    @Test func `a call whose time is over while it waits says what it has waited for`() {
        var half = half()
        attach(1, to: &half)
        half.limitPlaces(to: 1, bytes: nil)
        _ = call(1, in: &half, over: 1)
        _ = call(2, in: &half)
        let ended = ended(half.expire(at: Self.due))
        #expect(ended[1] == .deadlineExceeded(nil))
        guard case .heldBack(let why) = ended[2] else { return #expect(Bool(false), "\(ended)") }
        #expect(why.contains("maximumRequestsInFlight"))
    }

    @Test func `an acknowledgement can only be of what was sent`() {
        var half = half()
        attach(1, to: &half)
        half.limitPlaces(to: 1, bytes: nil)
        _ = call(1, in: &half, over: 1)
        _ = call(2, in: &half)
        #expect(half.lastNumber == 1)
    }
}
