// Failover: calls go to the first of several subjects that answers, and from then on to that one.

import RPCSockets
package import RPCWire
import Synchronization

final class FailoverSubject<Service: Sendable>: EndSubject, PassingSubject {
    private let members: [any Subject<Service>]
    /// The members' objects at the other end of a connection, which may be missing.
    private let ends: [RemoteEnd?]
    /// The ends of all members; nil when one of them has no client, as at the other end of a server's connection.
    private let dialled: [RemoteEnd]?
    /// What one call may take, all attempts together, in nanoseconds: the longest timeout of the members' clients. Nil when
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
        guard !members.isEmpty else { return }
        if let holder = holder(in: .current) { return members[holder].post(post, arguments, now: now) }
        let start = current.load(ordering: .relaxed)
        for step in 0..<members.count {
            let index = (start + step) % members.count
            if ends[index]?.isConnected ?? true { return members[index].post(post, arguments, now: now) }
        }
        members[start].post(post, arguments, now: now)
    }

    var tells: Bool { members.allSatisfy(\.tellsProgress) }

    func ask<Answer: Sendable>(
        isRepeatable: Bool, _ question: (any Subject<Service>) async throws -> Answer
    ) async throws -> Answer {
        guard !members.isEmpty else {
            throw RPCError(.unavailable, "failover among no proxies: give it one at least", outcome: .notExecuted)
        }
        let scope = CallScope.current
        let deadline = deadline(in: scope)
        if let holder = holder(in: scope) { return try await attempt(at: holder, until: deadline, question) }
        /// What has become of the work in the attempts so far.
        var earlier = RPCError.Outcome.notExecuted
        while true {
            let start = current.load(ordering: .relaxed)
            var failure: RPCError?
            for step in 0...members.count {
                let (index, isLast) = ((start + step) % members.count, step == members.count)
                if isLast {
                    if let failure { throw failure.after(earlier) }
                    // None can be reached. When one of the clients is connected, the call begins anew.
                    if let dialled, try await RemoteEnd.waitForOne(of: dialled, until: deadline, on: clock) { break }
                    if let end = ends[index], clock.now >= deadline { throw end.outOfTime.after(earlier) }
                }
                if !isLast, let end = ends[index] {
                    let others = members.count - step - 1
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

    /// Asks one member within the deadline. A call to a remote end ends when that becomes unreachable.
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

    /// The member that the task holds at its remote end. Only that one is the holder's alone.
    private func holder(in scope: CallScope?) -> Int? {
        guard let scope, !scope.rights.isEmpty else { return nil }
        return ends.firstIndex { $0?.isHeld(in: scope) ?? false }
    }

    /// Whether another member may answer instead: this one has not run the call, or running it twice is the same as once,
    /// and the failure is not of the call's own making.
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
    /// A proxy for the first of several that answers. It stays with the one that answered last. Another is asked, in the
    /// order of the list, when that one cannot be reached or its failure's outcome is `.notExecuted`, or `.unknown` for
    /// methods marked `@ReadOnly` or `@Idempotent`. Of failures that another would repeat, such as `.denied`, it throws
    /// the first.
    ///
    /// A call in flight whose connection is lost waits only until an attempt to connect has failed, or the server turns
    /// out to have been started anew. Then it is asked of another, or ends with `.connectionLost`, `.unknown` if it was
    /// sent and its method is not marked. A server that does not answer a ping counts as unreachable at once. If the
    /// first attempt to connect succeeds, the session goes on and the call is answered as ever.
    ///
    /// All attempts of a call together take no longer than the calling task's deadline and the longest `timeout` of the
    /// clients. If none can be reached, the call waits for the first that can be, until then.
    ///
    /// A post goes to the first that is connected. What is called under `exclusively` goes to the one that is held. A
    /// remote object inside a lazy proxy that has not been made is not seen to be unreachable, and is waited for.
    ///
    /// Meant for objects that share their state: one does not know what another was told.
    public static func failover(_ proxies: [Self]) -> Self {
        failover(proxies, clock: EventLoop.shared)
    }

    package static func failover(_ proxies: [Self], clock: any Loop) -> Self {
        Self(subject: FailoverSubject(proxies.map(\.proxySubject), clock: clock))
    }
}
