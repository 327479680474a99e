// All rules by which a request of one session begins, waits or is refused, in the order in which they are applied. Counts the
// requests that it lets in, and tells the totals of the server. On the loop.

import RPCSockets
import RPCWire

struct Admission: ~Copyable {
    /// When the next request may begin, judged before anything is known of it.
    enum Turn {
        case now
        /// Ask again in the loop's next turn.
        case later
        /// Ask again when a request has begun or ended.
        case stalled
    }

    /// What becomes of one request.
    enum Judgement {
        /// The request has a place, and runs when its turn comes.
        /// - Parameter waitingFor: the limit for which it waits until the other end has acknowledged answers; nil for none.
        case begins(slot: Int, waitingFor: Limit?)
        case busy(Limit)
        /// This end is finishing.
        case draining
    }

    /// How many requests of one session, and of all, may wait for a worker before the rest waits with the channel. So a peer
    /// that pipelines more is served at the pace of its objects instead of being refused. With a smaller number no overload
    /// would be seen.
    private static var mostWaiting: (ofSession: Int, inAll: Int) { (256, 4_096) }
    /// To how many objects posts of one session run at once.
    private static var mostPostLines: Int { 256 }
    /// The most bytes of arguments with which a session that has no request may begin one while all sessions together are full.
    private static var fewBytes: Int { SessionAccount.share }

    // None of these is retained, since each message asks them several times. The link's context keeps them.
    private let traffic: Unmanaged<Traffic>?
    /// Counts the requests of this loop; nil at an end that counts nothing.
    private let tally: Unmanaged<LoopTally>?
    /// How many admitted requests no worker has begun yet.
    var waiting = 0
    /// How many admitted requests wait for posts before them. No worker could begin these yet.
    var behindPosts = 0
    /// Admitted requests that wait until the other end has acknowledged answers.
    var heldBack = RequestQueue()
    /// Whether the log has been told of a stray reply.
    var hasToldOfStray = false

    init(_ context: LinkContext) {
        let traffic = context.settings.value.traffic
        self.traffic = traffic.map { .passUnretained($0) }
        tally = traffic?.tally(of: context.runner.number).map { .passUnretained($0) }
    }

    // MARK: what is decided

    /// When the next request may begin. Asked before each request.
    /// - Parameters:
    ///   - backlog: how many requests of all sessions on the loop wait for a worker.
    ///   - postLines: to how many objects posts of the session run.
    ///   - hasCalls: whether this end awaits answers of the other end.
    @inline(__always)
    func turn(of half: borrowing AnswererHalf, backlog: Int, postLines: Int, hasCalls: () -> Bool) -> Turn {
        // They begin one after another as posts end, and the end of each asks again.
        if behindPosts > 0 {
            if half.calls.isFull || isFullInAll { return .stalled }
            // A post may wait for the answer to a call. The other end may call again before it answers, and that call must come
            // in: it is behind the posts that wait here.
            if behindPosts >= Self.mostWaiting.ofSession, behindPosts >= half.calls.limit || !hasCalls() {
                return .stalled
            }
        }
        // Posts to several objects run at once, and none is refused.
        if postLines > 1, postLines + waiting >= Self.mostPostLines || half.calls.isFull || overrunInAll != nil {
            return .stalled
        }
        if waiting > 0 {
            // The table is full, but not all its requests have begun. Until they have, it is not known whether the next is too
            // many.
            if half.calls.isFull { return .stalled }
            // A channel without waiting requests may always add one: otherwise a busy neighbour could keep it out for ever.
            if waiting >= Self.mostWaiting.ofSession || backlog >= Self.mostWaiting.inAll { return .later }
        }
        return backlog == 0 || overrunInAll == nil ? .now : .later
    }

    /// Judges a request whose turn to begin has come, and gives it a place. The caller of a refused call is told; a refused
    /// post is lost. So a post always begins, and `turn` limits how many run. Calls without an id are judged as calls,
    /// since any number of them could run. Their callers are not told.
    /// - Parameter bytes: how many bytes came with the request, besides its name.
    @inline(__always)
    func judge(
        _ id: RPCIdentifier?, isPost: Bool, bytes: Int, deadline: Instant, in half: inout AnswererHalf,
        runner: RequestRunner, at now: Instant
    ) -> Judgement {
        // The channel of a session that is over may be open for a moment longer.
        if half.life.isOver { return .draining }
        // A session that has no request may always begin a small one: otherwise a few sessions could keep all others out.
        if !isPost, let limit = overrunInAll, half.calls.count > 0 || bytes >= Self.fewBytes { return busy(limit) }
        if id != nil, runner.isOverloaded(forLinkWith: waiting, at: now) { return busy(.maximumWait) }
        switch half.calls.start(id, isPost: isPost, bytes: bytes, deadline: deadline) {
        case .run(let slot):
            tally?._withUnsafeGuaranteedRef { $0.admitted() }
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

    /// The limit for which no call begins until the other end has acknowledged answers; nil if calls may begin.
    @inline(__always)
    func overrunByReplies(of half: borrowing AnswererHalf) -> Limit? {
        half.keepsAnswers ? half.overrunByReplies(isFullInAll: isFullInAll) : nil
    }

    /// The limit that all sessions together have reached, of requests or of bytes; nil if none. Asked for every message.
    @inline(__always)
    private var overrunInAll: Limit? {
        guard let tally, let traffic else { return nil }
        return traffic._withUnsafeGuaranteedRef { traffic in
            tally._withUnsafeGuaranteedRef { traffic.overrun(on: $0) }
        }
    }

    /// Whether the server keeps as many bytes for all its peers as it may.
    var isFullInAll: Bool { traffic?._withUnsafeGuaranteedRef { $0.isFull } == true }

    // MARK: what is counted

    /// Counts that a request is in the line for a worker, or waits for posts again, or has run.
    @inline(__always)
    func runs(_ change: Int) { tally?._withUnsafeGuaranteedRef { $0.runs(change) } }

    /// Counts that a request has run.
    @inline(__always)
    func ended(_ half: inout AnswererHalf) {
        runs(-1)
        tellBytes(of: &half)
    }

    /// Tells the totals how many bytes this session holds, if that has changed enough to be told.
    @inline(__always)
    func tellBytes(of half: inout AnswererHalf) {
        if half.calls.held.hasUnreportedChange { tell(half.calls.held.tell()) }
    }

    @inline(never)
    private func tell(_ bytes: Int) { traffic?.takeUnretainedValue().keeps(bytes) }
}
