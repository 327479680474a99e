// Choosing: of several subjects the first that answers, and from then on that one.

package import RPCWire
import Synchronization

final class FailoverSubject<Service: Sendable>: EndSubject {
    private let members: [any Subject<Service>]
    /// Where members are at the other end of a connection, which may be missing.
    private let ends: [FarEnd?]
    private let clock: any Loop
    /// The one that answered last.
    private let current = Atomic(0)

    init(_ members: [any Subject<Service>], clock: any Loop) {
        self.members = members
        self.clock = clock
        ends = members.map { $0.layer(RemoteSubject<Service>.self).map { FarEnd($0.peer, $0.owner as? RPCClient) } }
    }

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try await first(isRepeatable: method.signature.isRepeatable) { try await $0.call(method, arguments) }
    }

    /// To the first that is there. Nobody hears how posts end, so there is no second attempt.
    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        guard !members.isEmpty else { return }
        let start = current.load(ordering: .relaxed)
        for step in 0..<members.count {
            let index = (start + step) % members.count
            if ends[index]?.isConnected ?? true { return members[index].post(post, arguments, now: now) }
        }
        members[start].post(post, arguments, now: now)
    }

    var isKnownToTell: Bool { members.allSatisfy(\.tellsProgress) }

    func supports(_ method: MethodSignature) async throws -> Bool {
        try await first(isRepeatable: true) { try await $0.supports(method) }
    }

    func hold(for lease: Duration) async throws -> Hold {
        try await first(isRepeatable: false) { try await $0.hold(for: lease) }
    }

    private func first<Answer: Sendable>(
        isRepeatable: Bool, _ ask: (any Subject<Service>) async throws -> Answer
    ) async throws -> Answer {
        guard !members.isEmpty else {
            throw RPCError(.unavailable, "failover among no proxies: give it one at least", outcome: .notExecuted)
        }
        let start = current.load(ordering: .relaxed)
        let deadline = CallScope.current?.deadline ?? .distantFuture
        var failure: RPCError?
        for step in 0..<members.count {
            let index = (start + step) % members.count
            if let end = ends[index], try await !end.isReachable(until: deadline, on: clock) { continue }
            do {
                let answer = try await ask(members[index])
                settle(on: index, insteadOf: start)
                return answer
            } catch var error as RPCError where error.isWorthAskingAnother(isRepeatable: isRepeatable) {
                // That the last one refused says nothing of those before.
                if failure?.outcome == .unknown { error.outcome = .unknown }
                failure = error
                if clock.now >= deadline { break }
            } catch {
                // An answer too.
                settle(on: index, insteadOf: start)
                throw error
            }
        }
        if let failure { throw failure }
        // There is nobody: whoever answered last is waited for.
        return try await ask(members[start])
    }

    private func settle(on index: Int, insteadOf start: Int) {
        if index != start { current.store(index, ordering: .relaxed) }
    }
}

extension RPCError {
    /// Whether another one may answer instead: this one has not run the call, or running it twice is the same as once,
    /// and the failure is not of the call's own making.
    fileprivate func isWorthAskingAnother(isRepeatable: Bool) -> Bool {
        switch code {
        case .denied, .invalidArguments, .requestTooLarge: false
        default: outcome == .notExecuted || outcome == .unknown && isRepeatable
        }
    }
}

extension ServiceProxy {
    /// A proxy for the first of several that answers. It stays with the one that answered last; another is asked, in
    /// the order of the list, when that one cannot be reached or its failure's outcome is `.notExecuted`, or `.unknown`
    /// for methods marked `@ReadOnly` or `@Idempotent`. Of failures that another would repeat, such as `.denied`, it
    /// throws the first. If none can be reached now, the call waits for the one that answered last, until its deadline.
    /// A post goes to the first that is connected. A remote object inside a lazy proxy that has not been made is not seen to be unreachable, and
    /// is waited for.
    ///
    /// Not for subjects that share no state: what one was told, the other does not know.
    public static func failover(_ proxies: [Self]) -> Self {
        failover(proxies, clock: EventLoop.shared)
    }

    package static func failover(_ proxies: [Self], clock: any Loop) -> Self {
        Self(subject: FailoverSubject(proxies.map(\.proxySubject), clock: clock))
    }
}
