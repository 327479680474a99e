// The part of a service that a guard stands before. What is outside passes unjudged.

import RPCSockets
package import RPCWire

enum GuardedRange: Sendable {
    case all
    case only(Set<String>)
    case allExcept(Set<String>)

    func includes(_ method: MethodSignature) -> Bool {
        switch self {
        case .all: true
        case .only(let names): names.contains(method.name)
        case .allExcept(let names): !names.contains(method.name)
        }
    }
}

extension ServiceProxy {
    /// Lets through what the policy allows. Around it, not inside: `.locked().guarded(by: policy)` asks first and locks
    /// then.
    ///
    /// A denied call throws `RPCError` with the code `.denied`, or `.unimplemented` if it is denied silently, and the
    /// outcome `.notExecuted`; a denied post vanishes. `policy.deniedCalls` counts both. Of a policy that asks, up to
    /// 1,000 posts wait for its verdict in their order; more are denied. Taking the subject with `exclusively` is judged
    /// like a call of a method that changes something.
    public func guarded(by policy: Policy) -> Self { guarded(by: policy, .all) }

    package func guarded(by policy: Policy, clock: any Loop) -> Self { guarded(by: policy, .all, clock: clock) }

    /// The same before some methods only: the others, and `exclusively`, pass.
    public func guarded(by policy: Policy, methods: [MethodName]) -> Self {
        guarded(by: policy, .only(Set(methods.map(\.name))))
    }

    /// The same before all methods but some, which pass.
    public func guarded(by policy: Policy, except methods: [MethodName]) -> Self {
        guarded(by: policy, .allExcept(Set(methods.map(\.name))))
    }

    private func guarded(
        by policy: Policy, _ range: GuardedRange, clock: any Loop = EventLoop.shared
    ) -> Self {
        let service = Self.methodTable.service.name
        return Self(
            subject: GuardedSubject(
                next: proxySubject, policy: policy, range: range, service: service, clock: clock))
    }
}
