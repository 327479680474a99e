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

    /// Decides in place. Nil for a policy that decides in its own time: calls then wait within their deadlines, and posts in
    /// their order.
    let decideNow: (@Sendable (AccessRequest) -> Verdict)?
    let decide: @Sendable (AccessRequest) async throws -> Verdict
    /// Whether requests are to come with their arguments: putting those into a request may allocate.
    let readsArguments: Bool
    private let denials = Atomic(0)

    private init(
        now: (@Sendable (AccessRequest) -> Verdict)?, readsArguments: Bool = false,
        later: @escaping @Sendable (AccessRequest) async throws -> Verdict
    ) {
        decideNow = now
        decide = later
        self.readsArguments = readsArguments
    }

    convenience init(readsArguments: Bool, _ decide: @escaping @Sendable (AccessRequest) -> Verdict) {
        self.init(now: decide, readsArguments: readsArguments) { decide($0) }
    }

    /// A policy that decides at once, in the task of the call.
    public convenience init(_ decide: @escaping @Sendable (AccessRequest) -> Verdict) {
        self.init(readsArguments: false, decide)
    }

    /// A policy that has to ask first. Each call waits for its verdict until its deadline, 30 s if it has none.
    /// A policy that throws denies. Posts wait too and keep their order, so none of them is synchronous any more.
    public static func asking(_ decide: @escaping @Sendable (AccessRequest) async throws -> Verdict) -> Policy {
        Policy(now: nil, later: decide)
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
        if let decideNow { return Policy(readsArguments: readsArguments) { hush(decideNow($0)) } }
        return Policy(now: nil, readsArguments: readsArguments) { [decide] in hush(try await decide($0)) }
    }

    private func followed(by other: Policy, after isOpen: @escaping @Sendable (Verdict) -> Bool) -> Policy {
        let readsArguments = readsArguments || other.readsArguments
        if let decideNow, let next = other.decideNow {
            return Policy(readsArguments: readsArguments) { request in
                let verdict = decideNow(request)
                return isOpen(verdict) ? next(request) : verdict
            }
        }
        return Policy(now: nil, readsArguments: readsArguments) { [decide] request in
            let verdict = try await decide(request)
            return isOpen(verdict) ? try await other.decide(request) : verdict
        }
    }
}
