// The guarded proxy: it asks a policy about each call and post before passing it on.

import RPCSockets
package import RPCWire

struct GuardedSubject<Service: Sendable>: WrappingSubject, SelectiveSubject, HoldableSubject {
    /// Posts that wait for a policy that decides asynchronously.
    private struct WaitingPosts {
        var count = 0
        /// Delivers the last waiting post, after those before it.
        var last: Task<Void, Never>?
    }

    private static var mostPosts: Int { 1_000 }
    /// How long a policy may take if the call has no deadline.
    private static var patience: Duration { .seconds(30) }

    let next: any Subject<Service>
    private let policy: AccessPolicy
    /// Whether the policy is asked about a method. All other methods pass.
    private let isJudged: @Sendable (MethodSignature) -> Bool
    /// The method that the policy is asked about when the subject is taken with `exclusively`.
    private let hold: MethodSignature
    private let clock: any Loop
    private let posts = Lock(WaitingPosts())

    init(
        next: any Subject<Service>, policy: AccessPolicy, hold: MethodSignature, clock: any Loop,
        isJudged: @escaping @Sendable (MethodSignature) -> Bool
    ) {
        (self.next, self.policy, self.hold, self.clock, self.isJudged) = (next, policy, hold, clock, isJudged)
    }

    @inline(__always)
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        if isJudged(method.signature) {
            let request = request(method.signature, arguments)
            if let decideNow = policy.decideNow {
                try enforce(decideNow(request), on: method.signature)
            } else {
                try await enforce(verdict(on: request), on: method.signature)
            }
        }
        return try await next.call(method, arguments)
    }

    /// If the policy decides asynchronously, all posts wait for it, so that they are delivered in order.
    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        if let decideNow = policy.decideNow {
            if isJudged(post.signature) {
                let request = request(post.signature, arguments)
                guard admits(request, decideNow(request)) else { return }
            }
            return next.post(post, arguments, now: now)
        }
        let request = isJudged(post.signature) ? request(post.signature, arguments) : nil
        let kept: KeptPost
        do throws(NotKept) {
            kept = try KeptPost(post, arguments, through: { [next] in next })
        } catch {
            return DroppedPosts.add(post.signature.wireName, because: error.why)
        }
        // Judged on behalf of the sender, but not within its deadline.
        let scope = CallScope.current?.later
        let isKept = keep { [self] in
            if let request, await !isAllowed(request, in: scope) { return }
            await kept.deliver()
        }
        if isKept { return }
        DroppedPosts.add(
            post.signature.wireName, because: "\(Self.mostPosts) posts wait to be judged by its policy already")
    }

    func takeHold(for lease: Duration) async throws -> Hold {
        if isJudged(hold) {
            let verdict = try await verdict(on: AccessRequest(hold))
            // A silent denial looks like a subject that has no lock.
            if verdict == .denySilently { throw RPCError.cannotBeHeld }
            try enforce(verdict, on: hold)
        }
        return try await next.hold(for: lease)
    }

    /// False for a method that is silently denied to the caller.
    func has(_ method: MethodSignature) async throws -> Bool {
        if !policy.readsArguments, isJudged(method),
            try await verdict(on: AccessRequest(method)) == .denySilently
        {
            return false
        }
        return try await next.supports(method)
    }

    // MARK: judging

    private func request(_ method: MethodSignature, _ arguments: some Sendable) -> AccessRequest {
        AccessRequest(method, arguments: policy.readsArguments ? arguments : nil)
    }

    private func enforce(_ verdict: AccessPolicy.Verdict, on method: MethodSignature) throws {
        switch verdict {
        case .allow: return
        case .deny(let reason):
            let what = method == hold ? "holding the \(method.service) exclusively (rpc.hold)" : method.wireName
            throw RPCError(.denied, "\(what) was denied: \(reason)", outcome: .notExecuted)
        case .denySilently:
            throw RPCError(.noSuchMethod, "there is no method \(method.wireName)", outcome: .notExecuted)
        }
    }

    /// Judges a post that had to wait for those before it.
    private func isAllowed(_ request: AccessRequest, in scope: CallScope?) async -> Bool {
        let verdict = try? await CallScope.with(scope, { try await self.verdict(on: request) })
        return admits(request, verdict ?? .deny("the policy could not be asked"), from: scope?.caller)
    }

    /// Whether a post may be delivered. Otherwise the log is told, since the caller is not.
    private func admits(
        _ request: AccessRequest, _ verdict: AccessPolicy.Verdict, from caller: @autoclosure () -> Caller? = .current
    ) -> Bool {
        let why: String
        switch verdict {
        case .allow: return true
        case .deny(let reason): why = "its policy denied it: \(reason)"
        case .denySilently: why = "its policy denied it silently"
        }
        DroppedPosts.add(request.method.wireName, because: why, from: caller()?.requester)
        return false
    }

    /// An asynchronous policy runs in a task of its own. So the call ends in time, even if the policy never decides.
    private func verdict(on request: AccessRequest) async throws -> AccessPolicy.Verdict {
        if let decideNow = policy.decideNow { return decideNow(request) }
        let answer = WaitingTask<AccessPolicy.Verdict>()
        let asking = Task(executorPreference: clock) {
            do {
                _ = answer.end(with: try await policy.decide(request))
            } catch {
                _ = answer.end(with: .deny("the policy could not be asked"))
            }
        }
        // Has no effect if the policy has decided.
        defer { asking.cancel() }
        let deadline = clock.deadline(orAfter: Self.patience)
        if let verdict = try await answer.wait(until: deadline, on: clock) { return verdict }
        throw RPCError(
            .deadlineExceeded, "the policy of \(request.method.wireName) had not decided when the time was over",
            outcome: .notExecuted)
    }

    /// Delivers a post after those before it. Returns false, without keeping it, if too many are waiting.
    private func keep(_ deliver: @escaping @Sendable () async -> Void) -> Bool {
        posts.withLock { waiting in
            guard waiting.count < Self.mostPosts else { return false }
            waiting.count += 1
            waiting.last = Task(executorPreference: clock) { [posts, before = waiting.last] in
                await before?.value
                await deliver()
                posts.withLock { $0.count -= 1 }
            }
            return true
        }
    }
}

extension ServiceProxy {
    /// Makes a proxy that passes on only what the policy allows. The guard goes around other layers:
    /// `.locked().guarded(by: policy)` asks the policy first and locks then.
    ///
    /// A denied call throws `RPCError` with the outcome `.notExecuted` and the code `.denied`, or `.noSuchMethod` if it
    /// is denied silently. A denied post vanishes, with a line in the log. If the policy decides asynchronously,
    /// up to 1,000 posts wait for it, in order; more are denied. `exclusively` is judged like a method
    /// that changes something.
    public func guarded(by policy: AccessPolicy) -> Self { guarded(by: policy) { _ in true } }

    /// Asks the policy about these methods only. All others pass, and so does `exclusively`.
    public func guarded(by policy: AccessPolicy, methods: [MethodName]) -> Self {
        let names = Set(methods.map(\.name))
        return guarded(by: policy) { names.contains($0.name) }
    }

    /// Asks the policy about all methods except these, which pass.
    public func guarded(by policy: AccessPolicy, except methods: [MethodName]) -> Self {
        let names = Set(methods.map(\.name))
        return guarded(by: policy) { !names.contains($0.name) }
    }

    package func guarded(
        by policy: AccessPolicy, clock: any Loop = EventLoop.shared,
        _ isJudged: @escaping @Sendable (MethodSignature) -> Bool = { _ in true }
    ) -> Self {
        Self(
            subject: GuardedSubject(
                next: proxySubject, policy: policy, hold: .hold(of: Self._methodTable.service.name), clock: clock,
                isJudged: isJudged))
    }
}
