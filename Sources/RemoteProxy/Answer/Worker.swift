// A task on the loop that runs one request after the other, and what it uses for each of them again.

import JSONCodec
import RPCWire
import Synchronization

/// `@unchecked Sendable`: touched on the loop's thread only, but for what is atomic.
final class Worker: @unchecked Sendable {
    let runner: RequestRunner
    @exclusivity(unchecked) var task: Task<Void, Never>?
    /// Whether the task is cancelled. Asked after every request, and the task itself takes longer to say.
    private let isCancelled = Atomic(false)
    var parked: UnsafeContinuation<Void, Never>?
    /// The reply being written, reused from request to request.
    let output = JSONOutput()
    /// What it runs. The task's own, also where the loop has gone on without it.
    @exclusivity(unchecked) var place = RequestPlace()

    init(of runner: RequestRunner) { self.runner = runner }

    /// A cancelled task stays cancelled.
    var isUsedUp: Bool { isCancelled.load(ordering: .relaxed) }

    /// From anywhere.
    func wasCancelled() { isCancelled.store(true, ordering: .relaxed) }

    func resume() {
        parked?.resume()
        parked = nil
    }
}

// MARK: running; on the loop

extension Worker {
    /// Runs the request in its place and sends its answer. Posts of one link run one after the other, in order. Part of the
    /// worker's loop: an async function of its own costs a frame for each request.
    @inline(__always)
    func runRequest() async {
        guard place.request.method.isPost else { return await perform() }
        await runPosts()
    }

    private func runPosts() async {
        guard let first = place.take() else { return }
        let link = first.link
        var turn = link.posts.begin(first)
        while let post = turn.take() {
            place.put(post)
            await perform()
            guard var next = link.posts.next() else { return }
            if isUsedUp {
                // The task is; the posts that follow are not to suffer for it.
                next.isNextPost = true
                next.arrived = runner.loop.now
                return runner.accept(next)
            }
            turn = consume next
        }
    }

    /// Runs the request in its place, and those that follow it and are for the same method. Not a frame of its own.
    @inline(__always)
    private func perform() async {
        let method = place.request.method
        var failure: (any Error)?
        do {
            let params = try begin()
            try await method.run(_IncomingCall(of: method, params: params, on: self))
        } catch let thrown {
            failure = thrown
        }
        // None if the last that it ran is finished.
        guard !place.isFree else { return }
        if !runner.takeBack(), let since = await runner.follow(), failure?.isBeforeSubject != true {
            place.request.link.tell(thatItKeptItsThread: method, since: since)
        }
        finish(failure)
    }

    /// The subject has returned and its result is written: the request is finished, unless its method does something else
    /// after it or the loop is elsewhere by now. If the next request is for the same method, and may run now, it has begun.
    /// - Returns: the text of the next one's arguments. What is thrown is the next one's fault.
    func goesOn() throws -> UnsafeRawBufferPointer? {
        guard !place.isFree, !place.request.method.isAlone, runner.takeBack() else { return nil }
        let isNext = runner.isNext(like: place.request)
        finish(nil)
        guard isNext, !isUsedUp, runner.putNextInTurn(in: &place) else { return nil }
        return try begin()
    }

    /// Not counted: the request keeps it, in its place.
    private var link: Unmanaged<Link> { .passUnretained(place.request.link) }

    /// - Returns: the text of the arguments.
    @inline(__always)
    private func begin() throws -> UnsafeRawBufferPointer {
        let isWanted = link._withUnsafeGuaranteedRef { $0.prepare(place.request, on: self) }
        guard isWanted else { throw NeverBegan() }
        return place.request.params
    }

    /// Lets go of the request as well, before the loop is lent for the next.
    @inline(__always)
    private func finish(_ failure: (any Error)?) {
        link._withUnsafeGuaranteedRef { $0.finish(place.request, failure, on: self) }
        place.clear()
    }
}
