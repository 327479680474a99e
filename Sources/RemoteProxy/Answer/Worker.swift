// A task on the loop that runs one request after another, with the memory that it reuses for each of them.

import JSONCodec
import RPCWire
import Synchronization

/// `@unchecked Sendable`: touched on the loop's thread only, except for what is atomic.
final class Worker: CodedMessage, @unchecked Sendable {
    let runner: RequestRunner
    @exclusivity(unchecked) var task: Task<Void, Never>?
    /// The task's address, as the task itself finds it.
    @exclusivity(unchecked) var address = 0
    /// Whether the task is cancelled. Stored here, because it is asked after every request and asking the task takes longer.
    private let isCancelled = Atomic(false)
    var parked: UnsafeContinuation<Void, Never>?
    /// The reply being written; reused from request to request.
    let output = JSONOutput()
    /// The request that runs. Only this task touches it, even when the loop has gone on without this task.
    @exclusivity(unchecked) var place = RequestPlace()

    init(of runner: RequestRunner) {
        self.runner = runner
        super.init(madeBy: nil)
    }

    override var requester: Requester? { place.isFree ? nil : place.request.link.requester }
    override var session: SessionObjects? { place.isFree ? nil : place.request.link.objects }
    override var refusal: RPCError? {
        place.isFree || place.request.batch == nil
            ? nil
            : RPCError(.invalidRequest, "an answer in a batch cannot name objects; call alone", outcome: .executed)
    }
    override var arrived: NamedObjects? { place.isFree ? nil : place.request.objects }

    /// The request that runs, and its number, for code that its subject runs in the worker's own task. Nil in any other task, and
    /// for a request without a number.
    var requestOfThisTask: (link: Link, number: Int64)? {
        guard address == RunningTask.address, !place.isFree, case .integer(let number) = place.request.id else {
            return nil
        }
        return (place.request.link, number)
    }

    /// Whether this worker must run no more requests: a cancelled task stays cancelled.
    var isUsedUp: Bool { isCancelled.load(ordering: .relaxed) }

    /// Called from any thread.
    func wasCancelled() { isCancelled.store(true, ordering: .relaxed) }

    func resume() {
        parked?.resume()
        parked = nil
    }
}

// MARK: running; on the loop

extension Worker {
    /// Runs the request in its place and sends the answer. Posts of one link to one object run one after another, in order, and a
    /// call begins when the posts before it have run. Inlined into the worker's loop: a separate async function would cost a frame for each
    /// request.
    @inline(__always)
    func runRequest() async {
        if place.request.method.isPost { return await runPosts() }
        if postsRun, waitsForPosts() { return }
        await perform()
    }

    private func runPosts() async {
        guard let first = place.take() else { return }
        let (link, object) = (first.link, first.object)
        // The task is bound to the scope of the first post.
        let metadata = first.metadata
        var turn = link.beginInTurn(first)
        while let post = turn.take() {
            place.put(post)
            if place.request.method.isAsyncPost { await performPost(on: object, of: link) } else { await perform() }
            guard let next = link.nextInTurn(after: object) else { return }
            guard next.method.isPost, next.metadata === metadata, !isUsedUp else {
                return passOn(next, to: object, of: link)
            }
            turn = consume next
        }
    }

    /// Runs the post in its place, which may wait for what it calls: calls that come back from there find the post again.
    private func performPost(on object: ExportedObject, of link: Link) async {
        let post = ServedRequest(over: link, number: nil, inside: nil)
        link.posts.runs(post, on: object)
        var scope = CallScope.current ?? place.request.scope
        scope.served = post
        await scope.entered { await perform() }
        post.end()
        link.posts.runs(nil, on: object)
    }

    /// Gives the calls that waited for a post, and the post behind them, back to the runner, which has any worker run them.
    @inline(never)
    private func passOn(_ first: consuming IncomingRequest, to object: ExportedObject, of link: Link) {
        var turn: IncomingRequest? = first
        while var request = turn.take() {
            let isPost = request.method.isPost
            request.hasTurn = true
            request.arrived = runner.loop.now
            runner.accept(request)
            if isPost { return }
            turn = link.nextInTurn(after: object)
        }
    }

    /// Whether a post of the link in place runs, so that its calls wait. Not retained: see `link`.
    @inline(__always)
    private var postsRun: Bool { link._withUnsafeGuaranteedRef { $0.posts.isRunning } }

    /// Whether the call in place has to wait for posts to its object before it. If so, it leaves this worker.
    @inline(never)
    private func waitsForPosts() -> Bool {
        guard !place.request.hasTurn, let call = place.take() else { return false }
        let link = call.link
        guard let call = link.beginInTurn(call) else { return true }
        place.put(call)
        return false
    }

    /// Runs the request in its place, and those behind it that are for the same method. Inlined, to need no frame of its own.
    @inline(__always)
    private func perform() async {
        let (object, method) = (place.request.object, place.request.method)
        var failure: (any Error)?
        do {
            let params = try begin()
            try await method.run(IncomingCall(to: object, params: params, on: self))
        } catch let thrown {
            failure = thrown
        }
        extendLifetime(object)
        // The place is free if the last request has been finished already.
        guard !place.isFree else { return }
        if !runner.takeBack(), let since = await runner.follow(), failure?.isBeforeSubject != true {
            place.request.link.logBlockedThread(by: method, since: since)
        }
        finish(failure)
    }

    /// Called when the subject has returned and its result is written. Finishes the request, unless another thread has
    /// the loop by now. If the next request is for the same method and may run now, begins it.
    /// - Returns: the text of the next request's arguments; nil if none was begun. Errors thrown here belong to that request.
    func goesOn() throws -> UnsafeRawBufferPointer? {
        guard !place.isFree, runner.takeBack() else { return nil }
        let isNext = !postsRun && runner.isNext(like: place.request)
        finish(nil)
        guard isNext, !isUsedUp, runner.putNextInTurn(in: &place) else { return nil }
        return try begin()
    }

    /// Not retained: the request keeps the link, and the place keeps the request.
    private var link: Unmanaged<Link> { .passUnretained(place.request.link) }

    /// - Returns: the text of the arguments.
    @inline(__always)
    private func begin() throws -> UnsafeRawBufferPointer {
        let isWanted = link._withUnsafeGuaranteedRef { $0.prepare(place.request, on: self) }
        guard isWanted else { throw NeverBegan() }
        return place.request.params
    }

    /// Finishes the request, and releases it before the loop is lent for the next one.
    @inline(__always)
    private func finish(_ failure: (any Error)?) {
        link._withUnsafeGuaranteedRef { $0.finish(place.request, failure, on: self) }
        place.clear()
    }
}
