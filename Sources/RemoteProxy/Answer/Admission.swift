// Every rule by which a request of one session begins, waits or is refused, in the order in which they are asked. Counts what
// it lets in, and tells the totals of the server. On the loop.

import RPCSockets
import RPCWire

struct Admission {
    /// When the next request may begin, before anything is known of it.
    enum Turn {
        case now
        /// To be asked again in the loop's next turn.
        case later
        /// To be asked again when a request has begun or ended.
        case stalled
    }

    /// What becomes of one request.
    enum Judgement {
        /// It has a place, and is run when its turn comes.
        /// - Parameter overrun: the limit for which its turn comes only when the other end has acknowledged answers.
        case begins(slot: Int, waitingFor: Limit?)
        case busy(Limit)
        /// This end is finishing.
        case draining
    }

    /// How many requests of one session, and of all, may wait for a worker before the rest waits with the channel. A peer
    /// that pipelines more is served at the pace of its objects instead of being refused. With fewer an overload would not be
    /// seen.
    private static var mostWaiting: (ofSession: Int, inAll: Int) { (256, 4_096) }
    /// The most bytes of arguments with which the first request of a session begins although there is too much in all.
    private static var fewBytes: Int { 4_096 }

    // None of these is counted, since they are asked several times for every message: the link's context keeps them.
    private let traffic: Unmanaged<Traffic>?
    private let sessions: Unmanaged<SessionTable>?
    /// Where the requests of this loop are counted; nil at an end that counts nothing.
    private let tally: Unmanaged<LoopTally>?
    /// Admitted requests that no worker has begun yet.
    var waiting = 0

    init(_ context: LinkContext) {
        let traffic = context.settings.value.traffic
        self.traffic = traffic.map { .passUnretained($0) }
        sessions = context.sessions.map { .passUnretained($0) }
        tally = traffic?.tally(of: context.runner.number).map { .passUnretained($0) }
    }

    // MARK: what is decided

    /// Asked before each request.
    /// - Parameter backlog: how many requests of all sessions on the loop wait for a worker.
    @inline(__always)
    func turn(of half: borrowing AnswererHalf, backlog: Int) -> Turn {
        if waiting > 0 {
            // There are as many as may be, but not all of them have begun: whether the next one is one too many is known
            // only when they have.
            if half.calls.isFull { return .stalled }
            // With nothing waiting a channel may always add one, or a busy neighbour would keep it out for ever.
            if waiting >= Self.mostWaiting.ofSession || backlog >= Self.mostWaiting.inAll { return .later }
        }
        return backlog == 0 || overrunInAll == nil ? .now : .later
    }

    /// Judges a request whose turn to begin has come, and gives it a place. A post that is refused is lost, and one of them runs at
    /// a time, so only its own session's limits count; a call is told. A call that was sent like a post is told nothing, and any
    /// number of those would run.
    /// - Parameter bytes: how many came with it, besides its name.
    @inline(__always)
    func judge(
        _ id: RPCIdentifier?, isPost: Bool, bytes: Int, deadline: Instant, in half: inout AnswererHalf,
        runner: RequestRunner, at now: Instant
    ) -> Judgement {
        // Its channel may still be open for a moment.
        if half.life.isOver { return .draining }
        // One small request of a session that has none may always begin, or a few sessions could keep all others out.
        if !isPost, let limit = overrunInAll, half.calls.count > 0 || bytes >= Self.fewBytes { return busy(limit) }
        if id != nil, runner.isOverloaded(forLinkWith: waiting, at: now) { return busy(.maximumWait) }
        switch half.calls.start(id, isPost: isPost, bytes: bytes, deadline: deadline) {
        case .run(let slot):
            tally?._withUnsafeGuaranteedRef { $0.began() }
            tellBytes(of: &half)
            // A post leaves no answer behind.
            return .begins(slot: slot, waitingFor: id == nil ? nil : overrunByReplies(of: half))
        case .busy(let limit, _): return busy(limit)
        case .draining: return .draining
        }
    }

    private func busy(_ limit: Limit) -> Judgement {
        tally?.takeUnretainedValue().wasBusy(limit)
        return .busy(limit)
    }

    /// The limit for which no call begins before the other end has acknowledged answers.
    @inline(__always)
    func overrunByReplies(of half: borrowing AnswererHalf) -> Limit? {
        half.keepsAnswers ? half.overrunByReplies(isFullInAll: keepsTooMuchInAll) : nil
    }

    /// The limit for which all sessions together have as many requests, or bytes, as they may. Asked for every message.
    @inline(__always)
    private var overrunInAll: Limit? {
        guard let tally, !tally._withUnsafeGuaranteedRef({ $0.isBelowItsShare }) else { return nil }
        return overrunBeyondShare
    }

    @inline(never)
    private var overrunBeyondShare: Limit? {
        tally.flatMap { traffic?.takeUnretainedValue().overrun(on: $0.takeUnretainedValue()) }
    }

    /// Whether all sessions together keep as many answers as they may.
    var keepsTooMuchInAll: Bool { sessions?._withUnsafeGuaranteedRef { $0.keepsTooMuch } == true }

    /// Whether the requests that wait with all channels together take as much as they may.
    var waitsTooMuchInAll: Bool {
        traffic.map { $0.takeUnretainedValue() }.map { $0.waitingBytes >= $0.maximumBytes } ?? false
    }

    // MARK: what is counted

    /// A request has run.
    @inline(__always)
    func ended(_ half: inout AnswererHalf) {
        tally?._withUnsafeGuaranteedRef { $0.ended() }
        tellBytes(of: &half)
    }

    /// What the requests came with, and what is kept for them, has changed.
    @inline(__always)
    func tellBytes(of half: inout AnswererHalf) {
        if half.calls.held.hasNews { tell(half.calls.held.tell()) }
    }

    @inline(never)
    private func tell(_ bytes: Int) { tally?.takeUnretainedValue().holds(bytes) }

    /// Requests that wait with their channel take so many bytes more, or less.
    func tellWaiting(_ change: Int) { tally?.takeUnretainedValue().waits(change) }
}
