// What the answering half keeps and for how long, and what it lets the other end have.

import RPCWire
import Testing

@Suite struct `Answering half` {
    private func half(keptReplies: Int = 10, keptReplyBytes: Int = 10_000) -> AnswererHalf {
        var half = AnswererHalf(
            IncomingCalls(limit: 4), keptReplies: keptReplies, keptReplyBytes: keptReplyBytes, frameSize: .max)
        half.life.goesOn(for: .seconds(60))
        return half
    }

    /// Macros cannot look into a value that is not copied, so what is compared is handed over.
    private func expect<Value: Equatable>(
        _ found: Value, _ wanted: Value, _ location: SourceLocation = #_sourceLocation
    ) { #expect(found == wanted, sourceLocation: location) }

    private func keep(_ count: Int, in half: inout AnswererHalf, isFullInAll: Bool = false) -> Limit? {
        [UInt8](repeating: 0x31, count: count).withUnsafeBytes { half.keep($0, isFullInAll: isFullInAll) }
    }

    @Test func `the last answer that is kept may be of any length, and the next one is not kept`() {
        var half = half()
        expect(keep(100_000, in: &half), nil)
        expect(half.overrunByReplies(isFullInAll: false), .maximumKeptReplyBytes)
        expect(keep(1, in: &half), .maximumKeptReplyBytes)
        half.acknowledged(replies: 1)
        expect(half.overrunByReplies(isFullInAll: false), nil)
        expect(keep(1, in: &half), nil)
    }

    @Test func `a session keeps little even where all keep too much`() {
        var half = half()
        expect(keep(4_000, in: &half, isFullInAll: true), nil)
        expect(half.overrunByReplies(isFullInAll: true), nil)
        expect(keep(96, in: &half, isFullInAll: true), .maximumBytesInAll)
        expect(keep(96, in: &half), nil)
        expect(half.overrunByReplies(isFullInAll: true), .maximumBytesInAll)
    }

    @Test func `so many answers hold the next call up`() {
        var half = half(keptReplies: 2)
        expect(keep(1, in: &half), nil)
        expect(half.overrunByReplies(isFullInAll: false), nil)
        expect(keep(1, in: &half), nil)
        expect(half.overrunByReplies(isFullInAll: false), .maximumKeptReplies)
        // What is kept for another channel holds nothing up where there will be none.
        half.endsWithChannel()
        expect(half.overrunByReplies(isFullInAll: false), nil)
        expect(half.replies.isEmpty, true)
    }

    @Test func `refusals are kept until there are twice as many bytes as may be`() {
        var half = half(keptReplyBytes: 40_000)
        let refusal = [UInt8](repeating: 0x31, count: 1_000)
        let overruns = (0..<81).map { _ in
            refusal.withUnsafeBytes { half.keepAnswerWithoutPlace($0, isFullInAll: false) }
        }
        #expect(overruns.prefix(79).allSatisfy { $0 == nil })
        #expect(overruns.suffix(2).allSatisfy { $0 == .maximumKeptReplyBytes })
    }

    @Test func `the totals are told of every few kilobytes, and when nothing is kept any more`() {
        var half = half()
        _ = keep(4_000, in: &half)
        expect(half.takeKeptBytesChange(), nil)
        _ = keep(1_000, in: &half)
        expect(half.takeKeptBytesChange(), 5_000)
        expect(half.takeKeptBytesChange(), nil)
        _ = keep(10, in: &half)
        half.acknowledged(replies: 3)
        expect(half.takeKeptBytesChange(), -5_000)
    }

    @Test func `an end that comes back gets the answers that it lacks, and cannot have more than there were`() {
        var half = half()
        for length in 1...3 { _ = keep(length, in: &half) }
        expect(half.life.lost(at: Instant(nanoseconds: 0)), true)
        expect(half.canHave(requests: 5, replies: 3, last: 5), true)
        expect(half.canHave(requests: 6, replies: 3, last: 5), false)
        expect(half.canHave(requests: 5, replies: 4, last: 5), false)
        expect(half.resumed(replies: 1).map(\.count), [2, 3])
        expect(half.life.phase, .open)
    }

    @Test func `transfers have numbers of their own, and go again to an end that comes back without them`() {
        var half = half()
        expect(half.nextTransfer, nil)
        half.hasTransfers = true
        _ = keep(1, in: &half)
        for length in 2...4 {
            expect(half.nextTransfer, Int64(length - 1))
            let message = [UInt8](repeating: 0, count: length)
            message.withUnsafeBytes { half.sent(transfer: $0) }
        }
        expect(half.keptBytes, 10)
        expect(half.life.lost(at: Instant(nanoseconds: 0)), true)
        expect(half.canHave(requests: 0, replies: 1, transfers: 3, last: 0), true)
        expect(half.canHave(requests: 0, replies: 1, transfers: 4, last: 0), false)
        expect(half.resumed(replies: 0, transfers: 1).map(\.count), [1, 3, 4])
        half.acknowledged(replies: 1, transfers: 3)
        expect(half.keptBytes, 0)
        expect(half.nextTransfer, 4)
    }

    @Test func `at the end all stops once, but posts of an end that has left in good order`() {
        for hasLeft in [true, false] {
            var half = half()
            _ = half.calls.start(.integer(1), isPost: false, bytes: 0, deadline: .distantFuture)
            _ = half.calls.start(nil, isPost: true, bytes: 0, deadline: .distantFuture)
            _ = keep(1, in: &half)
            if hasLeft { half.life.hasLeft = true }
            expect(half.close(), (hasLeft ? [0] : [0, 1]))
            expect(half.close(), nil)
            expect(half.replies.isEmpty, true)
        }
    }

    @Test func `a call has the time that it names, or that its end has named for all`() {
        var half = half()
        let now = Instant(nanoseconds: 0)
        expect(half.deadline(after: nil, peerRunsLibrary: true, at: now), .distantFuture)
        half.assume(timeout: 2)
        expect(half.deadline(after: nil, peerRunsLibrary: true, at: now), Instant(nanoseconds: 2_000_000))
        expect(half.deadline(after: nil, peerRunsLibrary: false, at: now), .distantFuture)
        expect(half.deadline(after: 1, peerRunsLibrary: false, at: now), Instant(nanoseconds: 1_000_000))
    }

    @Test func `the timer is set anew for a deadline before all others, and when one is due`() {
        var half = half()
        let deadlines = [30, 20, 40].map { Instant(nanoseconds: $0) }
        let isNext = deadlines.enumerated().map { index, deadline in
            _ = half.calls.start(.integer(Int64(index)), isPost: false, bytes: 0, deadline: deadline)
            return half.isNextDue(deadline)
        }
        #expect(isNext == [true, true, false])
        expect(half.expire(at: Instant(nanoseconds: 30)), [0, 1])
        expect(half.wakesAt, Instant(nanoseconds: 40))
        expect(half.expire(at: Instant(nanoseconds: 40)), [2])
        expect(half.wakesAt, .distantFuture)
    }
}
