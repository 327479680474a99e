// Protection: a policy is asked about each call and post before it goes on.

import RPCWire

struct GuardedSubject<Service: Sendable>: WrappingSubject {
    let next: any Subject<Service>
    let policy: Policy
    let range: GuardedRange
    /// How taking the subject for several calls looks to the policy.
    let hold: MethodSignature
    /// Where posts wait while a policy takes its time.
    let waitingPosts: GuardedPosts<Service>?
    let clock: any Loop

    init(
        next: any Subject<Service>, policy: Policy, range: GuardedRange, service: String,
        clock: any Loop
    ) {
        self.next = next
        self.policy = policy
        self.range = range
        self.clock = clock
        hold = .hold(of: service)
        if case .later = policy.judge { waitingPosts = GuardedPosts(next, clock) } else { waitingPosts = nil }
    }

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        if range.includes(method.signature) {
            let request = AccessRequest(
                method: method.signature, arguments: policy.readsArguments ? arguments : nil)
            switch policy.judge {
            case .now(let decide): try enforce(decide(request), on: method.signature)
            case .later(let decide): try await enforce(verdict(on: request, decide), on: method.signature)
            }
        }
        return try await next.call(method, arguments)
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        guard let waitingPosts else {
            if isAllowed(post.signature, arguments) { next.post(post, arguments, now: now) }
            return
        }
        let isKept = waitingPosts.add(post.kept(arguments)) { [self] in await isAllowedLater(post.signature, arguments)
        }
        guard !isKept else { return }
        policy.countDenial()
        DroppedPosts.add(
            post.signature, because: "\(GuardedPosts<Service>.limit) posts wait to be judged by its policy already")
    }

    func hold(for lease: Duration) async throws -> Hold {
        if range.includes(hold) {
            let verdict = try await verdict(on: hold)
            // As if there were no lock, not as if there were a method of that name.
            if verdict == .denySilently {
                policy.countDenial()
                throw RPCError.cannotBeHeld
            }
            try enforce(verdict, on: hold)
        }
        return try await next.hold(for: lease)
    }

    /// A method that a caller may not know of is not there for it.
    func supports(_ method: MethodSignature) async throws -> Bool {
        if !policy.readsArguments, range.includes(method), try await verdict(on: method) == .denySilently {
            return false
        }
        return try await next.supports(method)
    }
}

extension GuardedSubject {
    private func enforce(_ verdict: Policy.Verdict, on method: MethodSignature) throws {
        guard verdict != .allow else { return }
        policy.countDenial()
        if case .deny(let reason) = verdict {
            let what = method == hold ? "holding the \(method.service) exclusively (rpc.hold)" : method.wireName
            throw RPCError(.denied, "\(what) was denied: \(reason)", outcome: .notExecuted)
        }
        throw RPCError(.unimplemented, "there is no method \(method.wireName)", outcome: .notExecuted)
    }

    /// Of a post that is judged in place.
    private func isAllowed(_ method: MethodSignature, _ arguments: some MethodArguments) -> Bool {
        guard range.includes(method), case .now(let decide) = policy.judge else { return true }
        let request = AccessRequest(method: method, arguments: policy.readsArguments ? arguments : nil)
        let isAllowed = decide(request) == .allow
        if !isAllowed { policy.countDenial() }
        return isAllowed
    }

    /// Of a post that has waited for its turn to be judged.
    private func isAllowedLater(_ method: MethodSignature, _ arguments: some MethodArguments) async -> Bool {
        guard range.includes(method), case .later(let decide) = policy.judge else { return true }
        let request = AccessRequest(method: method, arguments: policy.readsArguments ? arguments : nil)
        let isAllowed = (try? await verdict(on: request, decide)) == .allow
        if !isAllowed { policy.countDenial() }
        return isAllowed
    }

    private func verdict(on method: MethodSignature) async throws -> Policy.Verdict {
        let request = AccessRequest(method: method, arguments: nil)
        return switch policy.judge {
        case .now(let decide): decide(request)
        case .later(let decide): try await verdict(on: request, decide)
        }
    }

    /// Asks in a task of its own, so that the call ends in time whatever the policy does.
    private func verdict(
        on request: AccessRequest, _ decide: @escaping @Sendable (AccessRequest) async throws -> Policy.Verdict
    ) async throws -> Policy.Verdict {
        let answer = WaitingTask<Policy.Verdict>()
        let asking = Task(executorPreference: clock) {
            do {
                _ = answer.end(with: try await decide(request))
            } catch {
                _ = answer.end(with: .deny("the policy could not be asked"))
            }
        }
        do {
            let deadline = clock.deadline(orAfter: Self.patience)
            if let verdict = try await answer.wait(until: deadline, on: clock) { return verdict }
        } catch {
            asking.cancel()
            throw error
        }
        asking.cancel()
        throw RPCError(
            .deadlineExceeded, "the policy of \(request.method.wireName) had not decided when the time was over",
            outcome: .notExecuted)
    }

    /// How long a policy may take when the call has no deadline.
    private static var patience: Duration { .seconds(30) }
}
