// What a policy is asked about: one call or post on its way to a guarded subject.

/// A call or a post that a policy is to judge.
public struct AccessRequest: Sendable {
    /// What is called: its service, its name, its shape and whether it only reads. Taking the subject for several calls
    /// is judged as the method `rpc.hold`.
    public let method: MethodSignature
    let arguments: (any MethodArguments)?

    /// The service that is called.
    public var service: String { method.service }

    /// Who calls; nil for a call that begins in this process. To be read while the policy judges, not later.
    public var caller: Caller? { Caller.current }

    /// Who the caller has proved to be, if anybody. To be read while the policy judges, not later.
    public var identity: Identity? { caller?.identity }
}
