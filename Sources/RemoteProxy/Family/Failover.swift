// Failover: calls go to the first of several subjects that answers, and stay with it.

import RPCSockets
package import RPCWire
import Synchronization

final class FailoverSubject<Service: Sendable>: EndSubject, PassingSubject {
    private let members: [any Subject<Service>]
    /// The remote end of each member; nil for a member without one.
    private let ends: [RemoteEnd?]
    /// The ends of all members; nil if a member has no client. A proxy that a server has for its caller has none.
    private let dialled: [RemoteEnd]?
    /// How long one call may take, with all its attempts, in nanoseconds: the longest timeout of the members' clients. Nil if
    /// no member has an end.
    private let timeout: Int64?
    private let clock: any Loop
    /// The member that answered last.
    private let current = Atomic(0)

    init(_ members: [any Subject<Service>], clock: any Loop) {
        self.members = members
        self.clock = clock
        ends = members.map(\.remoteEnd)
        timeout = ends.compactMap { $0?.timeout }.max()
        let dialled = ends.compactMap { $0?.dials == true ? $0 : nil }
        self.dialled = dialled.count == members.count ? dialled : nil
    }

    /// Posts to the first member that is connected. Posts report no failure, so there is no second attempt.
    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        guard !ends.isEmpty else { return }
        if let holder = holder(in: .current) { return members[holder].post(post, arguments, now: now) }
        let start = current.load(ordering: .relaxed)
        for step in 0..<ends.count {
            let index = (start + step) % ends.count
            if ends[index]?.isConnected ?? true { return members[index].post(post, arguments, now: now) }
        }
        members[start].post(post, arguments, now: now)
    }

    var tells: Bool { members.allSatisfy(\.tellsProgress) }

    func ask<Answer: Sendable>(
        isRepeatable: Bool, _ question: (any Subject<Service>) async throws -> Answer
    ) async throws -> Answer {
        guard !ends.isEmpty else {
            throw RPCError(.unavailable, "failover among no proxies: give it one at least", outcome: .notExecuted)
        }
        let scope = CallScope.current
        let deadline = deadline(in: scope)
        if let holder = holder(in: scope) { return try await attempt(at: holder, until: deadline, question) }
        /// The outcome of the attempts so far.
        var earlier = RPCError.Outcome.notExecuted
        while true {
            let start = current.load(ordering: .relaxed)
            var failure: RPCError?
            for step in 0...ends.count {
                let (index, isLast) = ((start + step) % ends.count, step == ends.count)
                if isLast {
                    if let failure { throw failure.after(earlier) }
                    // No member can be reached. The call starts again when one of the clients is connected.
                    if let dialled, try await RemoteEnd.waitForOne(of: dialled, until: deadline, on: clock) { break }
                    if let end = ends[index], clock.now >= deadline { throw end.outOfTime.after(earlier) }
                }
                if !isLast, let end = ends[index] {
                    let others = ends.count - step - 1
                    guard try await end.isReachable(until: deadline, leavingFor: others, on: clock) else {
                        continue
                    }
                }
                do {
                    let answer = try await attempt(at: index, isLast: isLast, until: deadline, question)
                    settle(on: index, insteadOf: start)
                    return answer
                } catch let error as RPCError {
                    let isAnswer = !Self.isWorthAskingAnother(after: error, isRepeatable: isRepeatable)
                    let wasReached = ends[index] == nil || !(error.underlying is PeerUnreachable)
                    if isAnswer { settle(on: index, insteadOf: start) }
                    if isAnswer || isLast && wasReached || clock.now >= deadline { throw error.after(earlier) }
                    earlier = .more(earlier, error.outcome)
                    if wasReached { failure = error }
                } catch {
                    settle(on: index, insteadOf: start)
                    throw error
                }
            }
        }
    }

    /// Asks one member within the deadline. A call to a remote end fails when that end becomes unreachable.
    @inline(__always)
    private func attempt<Answer: Sendable>(
        at index: Int, isLast: Bool = false, until deadline: Instant,
        _ question: (any Subject<Service>) async throws -> Answer
    ) async throws -> Answer {
        guard timeout != nil else { return try await question(members[index]) }
        var scope = CallScope.current ?? CallScope()
        scope.deadline = deadline
        scope.attempt = ends[index]?.attempt(isLast: isLast)
        return try await scope.entered { try await question(members[index]) }
    }

    private func deadline(in scope: CallScope?) -> Instant {
        let given = scope?.deadline ?? .distantFuture
        return timeout.map { min(clock.now.advanced(byNanoseconds: $0), given) } ?? given
    }

    /// The member whose remote end the task holds. A hold is good for that member only.
    private func holder(in scope: CallScope?) -> Int? {
        guard let scope, !scope.rights.isEmpty else { return nil }
        return ends.firstIndex { $0?.isHeld(in: scope) ?? false }
    }

    /// Whether to ask another member after this failure. This one must not have run the call, unless running it twice does no
    /// harm. The failure must not be the call's own fault.
    private static func isWorthAskingAnother(after error: RPCError, isRepeatable: Bool) -> Bool {
        switch error.code {
        case .denied, .invalidArguments, .requestTooLarge: false
        default: error.outcome == .notExecuted || error.outcome == .unknown && isRepeatable
        }
    }

    private func settle(on index: Int, insteadOf start: Int) {
        if index != start { current.store(index, ordering: .relaxed) }
    }
}

extension ServiceProxy {
    /// Makes a proxy for the first of several objects that answers. It stays with the object that answered last.
    ///
    /// It asks another object, in the order of the list, if that one cannot be reached or the outcome of its failure is
    /// `.notExecuted`. For methods marked `@ReadOnly` or `@Idempotent`, `.unknown` is enough. A failure that another
    /// object would repeat, such as `.denied`, is thrown at once.
    ///
    /// If the connection of a running call is lost, the call waits for one attempt to connect. If that succeeds, the
    /// session continues and the call is answered as usual. If it fails, or the server was restarted, another object is
    /// asked. A call that was sent and is not marked instead ends with `.connectionLost`, `.unknown`. A server that does
    /// not answer a ping counts as unreachable at once.
    ///
    /// All attempts of a call together end by the task's deadline, or after the longest `timeout` of the clients. If no
    /// object can be reached, the call waits until then for the first that can be.
    ///
    /// A post goes to the first object that is connected. Calls inside `exclusively` go to the object that is held. A
    /// lazy proxy that has not made its remote object yet counts as reachable, so calls wait for it.
    ///
    /// The objects should share their state: one object does not know what was sent to another.
    public static func failover(_ proxies: [Self]) -> Self {
        failover(proxies, clock: EventLoop.shared)
    }

    package static func failover(_ proxies: [Self], clock: any Loop) -> Self {
        Self(subject: FailoverSubject(proxies.map(\.proxySubject), clock: clock))
    }
}
