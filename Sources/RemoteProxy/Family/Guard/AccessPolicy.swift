// Policies decide which callers may call which methods. A guarded subject asks one about each call and post.

/// Decides which calls and posts reach a subject, for `guarded(by:)`.
///
/// ```swift
/// server.export(ledger.guarded(by: .readOnly.or(.role("teller"))))
/// ```
///
/// The policy is asked before the arguments reach the subject. A denied call throws `RPCError` with the code
/// `.denied` and the outcome `.notExecuted`. A denied post vanishes.
public struct AccessPolicy: Sendable {
    /// Says what happens to a call. There may be more verdicts later.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Verdict: Sendable, Hashable {
        /// The call goes to the subject.
        case allow
        /// The call is refused. Its error gives this reason.
        case deny(String)
        /// The call is refused as if the method did not exist: with the code `.noSuchMethod`.
        case denySilently
    }

    /// Decides synchronously. Nil for a policy that decides asynchronously: calls then wait within their deadlines, and posts
    /// in order.
    let decideNow: (@Sendable (AccessRequest) -> Verdict)?
    let decide: @Sendable (AccessRequest) async throws -> Verdict
    /// Whether requests carry their arguments. Copying those into a request may allocate.
    let readsArguments: Bool

    private init(
        now: (@Sendable (AccessRequest) -> Verdict)?, readsArguments: Bool = false,
        later: @escaping @Sendable (AccessRequest) async throws -> Verdict
    ) {
        decideNow = now
        decide = later
        self.readsArguments = readsArguments
    }

    init(readsArguments: Bool, _ decide: @escaping @Sendable (AccessRequest) -> Verdict) {
        self.init(now: decide, readsArguments: readsArguments) { decide($0) }
    }

    /// Makes a policy that decides synchronously, in the task of the call.
    public init(_ decide: @escaping @Sendable (AccessRequest) -> Verdict) {
        self.init(readsArguments: false, decide)
    }

    /// Makes a policy that decides asynchronously. Each call waits for the verdict until its deadline, or for 30 s if it has
    /// none. After that it throws `.deadlineExceeded`, `.notExecuted`. If the closure throws, the call is denied. Posts wait too
    /// and keep their order, so they are no longer synchronous; those for which there is no room are dropped, with a line in
    /// the log.
    public static func asking(_ decide: @escaping @Sendable (AccessRequest) async throws -> Verdict) -> AccessPolicy {
        AccessPolicy(now: nil, later: decide)
    }

    /// Asks the policy directly, without a call and without a guard, for instance in a test. The caller is that of the running
    /// task, which ``withCaller(_:at:exports:body:)`` can set.
    ///
    /// ```swift
    /// let request = AccessRequest(LedgerProxy.Methods.withdraw, 5)
    /// let verdict = try await withCaller(teller) { try await policy.verdict(on: request) }
    /// ```
    /// - Throws: what the closure of an `asking` policy throws. A guard denies the call then.
    public func verdict(on request: AccessRequest) async throws -> Verdict { try await decide(request) }
}

/// Describes a call or post that a policy has to judge.
public struct AccessRequest: Sendable {
    /// The method: its service, its name, its shape and whether it only reads. For `exclusively` it is `rpc.hold`.
    public let method: MethodSignature
    let arguments: (any Sendable)?

    init(_ method: MethodSignature, arguments: (any Sendable)? = nil) {
        (self.method, self.arguments) = (method, arguments)
    }

    /// A call of a method with these arguments, to ask a policy about it. Several are a tuple with the names of the parameters.
    public init<Service, Arguments, Result>(_ method: Method<Service, Arguments, Result>, _ arguments: Arguments) {
        self.init(method.signature, arguments: arguments)
    }

    /// A post with these arguments, to ask a policy about it.
    public init<Service, Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments) {
        self.init(post.signature, arguments: arguments)
    }

    /// A call of a method without parameters, to ask a policy about it: `AccessRequest(LedgerProxy.Methods.balance)`.
    public init<Service, Result>(_ method: Method<Service, Void, Result>) { self.init(method, ()) }

    /// A post without parameters, to ask a policy about it.
    public init<Service>(_ post: Post<Service, Void>) { self.init(post, ()) }

    /// The caller; nil for a call that begins in this process. Read it only while the policy decides.
    public var caller: Caller? { Caller.current }

    /// The identity that the caller has proved, if any. Read it only while the policy decides.
    public var identity: Identity? { caller?.identity }
}

extension AccessPolicy {
    /// Allows what both policies allow. After a denial by the first, the other is not asked.
    public func and(_ other: AccessPolicy) -> AccessPolicy {
        followed(by: other) { $0 == .allow }
    }

    /// Allows what at least one of the policies allows. If both deny, the verdict is that of `other`.
    public func or(_ other: AccessPolicy) -> AccessPolicy {
        followed(by: other) { $0 != .allow }
    }

    /// Allows the same, and denies everything else silently.
    public var silently: AccessPolicy {
        let hush: @Sendable (Verdict) -> Verdict = { $0 == .allow ? .allow : .denySilently }
        if let decideNow { return AccessPolicy(readsArguments: readsArguments) { hush(decideNow($0)) } }
        return AccessPolicy(now: nil, readsArguments: readsArguments) { [decide] in hush(try await decide($0)) }
    }

    private func followed(by other: AccessPolicy, after isOpen: @escaping @Sendable (Verdict) -> Bool) -> AccessPolicy {
        let readsArguments = readsArguments || other.readsArguments
        if let decideNow, let next = other.decideNow {
            return AccessPolicy(readsArguments: readsArguments) { request in
                let verdict = decideNow(request)
                return isOpen(verdict) ? next(request) : verdict
            }
        }
        return AccessPolicy(now: nil, readsArguments: readsArguments) { [decide] request in
            let verdict = try await decide(request)
            return isOpen(verdict) ? try await other.decide(request) : verdict
        }
    }
}
