// A subject held by one caller, while everybody else waits.

import Synchronization

/// The right to a locked subject for several calls. Made by `Subject.hold`; `proxy.exclusively { … }` is the way to use
/// one. Calls made under it pass the lock that it stands for; everybody else's wait.
public final class Hold: Sendable {
    let right: any Right
    private let giveBack: @Sendable () -> Void
    private let isReleased = Atomic(false)

    init(_ right: any Right, giveBack: @escaping @Sendable () -> Void) {
        self.right = right
        self.giveBack = giveBack
    }

    deinit { release() }

    /// Lets the next one have the subject. Any number of times; a hold that nobody has any more is given back too.
    public func release() {
        if !isReleased.exchange(true, ordering: .acquiringAndReleasing) { giveBack() }
    }

    /// Runs the body under the hold.
    func entered<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        var scope = CallScope.current ?? CallScope()
        scope.rights.append(right)
        return try await scope.entered(body)
    }
}

extension MethodSignature {
    /// How taking a subject of the service for several calls looks to those that judge and report calls.
    static func hold(of service: String) -> MethodSignature {
        MethodSignature(
            service: service, name: "rpc.hold", parameters: [], result: nil, shape: .call, effect: .changes)
    }
}
