// Which callers may call which methods. A guarded subject asks a policy with each call and post.

import Synchronization

/// Decides which calls and posts reach a subject, for `guarded(by:)`.
///
/// ```swift
/// server.export(ledger.guarded(by: .readOnly.or(.role("teller"))))
/// ```
///
/// Judged before the arguments reach the subject. A denied call throws `RPCError` with the code `.denied` and the
/// outcome `.notExecuted`; a denied post vanishes.
public final class Policy: Sendable {
    /// What becomes of a call.
    public enum Verdict: Sendable, Hashable {
        /// It goes on to the subject.
        case allow
        /// It is refused, and its caller is told why.
        case deny(String)
        /// It is refused as if there were no such method: with the code `.unimplemented`.
        case denySilently
    }

    enum Judge: Sendable {
        /// Decides in place: calls and posts go on at once.
        case now(@Sendable (AccessRequest) -> Verdict)
        /// Decides in its own time: calls wait within their deadlines, posts in their order.
        case later(@Sendable (AccessRequest) async throws -> Verdict)
    }

    let judge: Judge
    /// Whether requests are to come with their arguments: putting those into a request may allocate.
    let readsArguments: Bool
    private let denials = Atomic(0)

    init(_ judge: Judge, readsArguments: Bool = false) {
        self.judge = judge
        self.readsArguments = readsArguments
    }

    /// A policy that decides at once, in the task of the call.
    public convenience init(_ decide: @escaping @Sendable (AccessRequest) -> Verdict) {
        self.init(.now(decide))
    }

    /// A policy that has to ask first. Each call waits for its verdict until its deadline, 30 s if it has none.
    /// A policy that throws denies. Posts wait too and keep their order, so none of them is synchronous any more.
    public static func asking(_ decide: @escaping @Sendable (AccessRequest) async throws -> Verdict) -> Policy {
        Policy(.later(decide))
    }

    /// How many calls and posts have been denied by the guards that were given this very policy.
    public var deniedCalls: Int { denials.load(ordering: .relaxed) }

    /// Counts a verdict that denies.
    func counted(_ verdict: Verdict) -> Verdict {
        if verdict != .allow { denials.add(1, ordering: .relaxed) }
        return verdict
    }
}

/// A call or a post that a policy is to judge.
public struct AccessRequest: Sendable {
    /// What is called: its service, its name, its shape and whether it only reads. Taking the subject for several calls
    /// is judged as the method `rpc.hold`.
    public let method: MethodSignature
    let arguments: (any MethodArguments)?

    /// The service that is called.
    public var service: String { method.service }

    /// The caller; nil for a call that begins in this process. To be read while the policy judges, not later.
    public var caller: Caller? { Caller.current }

    /// The identity that the caller has proved, if any. To be read while the policy judges, not later.
    public var identity: Identity? { caller?.identity }
}

extension Policy {
    /// Allows what both allow. The first denial is the verdict; the other policy is then not asked.
    public func and(_ other: Policy) -> Policy {
        followed(by: other) { $0 == .allow }
    }

    /// Allows what one of them allows. If both deny, the verdict is the other's.
    public func or(_ other: Policy) -> Policy {
        followed(by: other) { $0 != .allow }
    }

    /// The same, with every denial a silent one.
    public var silently: Policy {
        let hush: @Sendable (Verdict) -> Verdict = { $0 == .allow ? .allow : .denySilently }
        switch judge {
        case .now(let decide): return Policy(.now { hush(decide($0)) }, readsArguments: readsArguments)
        case .later(let decide):
            return Policy(.later { hush(try await decide($0)) }, readsArguments: readsArguments)
        }
    }

    private func followed(by other: Policy, after isOpen: @escaping @Sendable (Verdict) -> Bool) -> Policy {
        let readsArguments = readsArguments || other.readsArguments
        guard case .now(let first) = judge, case .now(let second) = other.judge else {
            let decide: @Sendable (AccessRequest) async throws -> Verdict = { request in
                let verdict = try await self.verdict(on: request)
                return isOpen(verdict) ? try await other.verdict(on: request) : verdict
            }
            return Policy(.later(decide), readsArguments: readsArguments)
        }
        let decide: @Sendable (AccessRequest) -> Verdict = { request in
            let verdict = first(request)
            return isOpen(verdict) ? second(request) : verdict
        }
        return Policy(.now(decide), readsArguments: readsArguments)
    }

    private func verdict(on request: AccessRequest) async throws -> Verdict {
        switch judge {
        case .now(let decide): decide(request)
        case .later(let decide): try await decide(request)
        }
    }
}
