// A hold: one caller has a subject for several calls, while all others wait.

import Synchronization

/// The right to a locked subject for several calls. Made by `Subject.hold`, used by `proxy.exclusively { … }`. Calls made under
/// the hold pass the lock that it stands for; all others wait.
final class Hold: Sendable {
    let right: any Right
    private let giveBack: @Sendable () -> Void
    private let isReleased = Atomic(false)

    init(_ right: any Right, giveBack: @escaping @Sendable () -> Void) {
        self.right = right
        self.giveBack = giveBack
    }

    deinit { release() }

    /// Gives the subject to the next caller. May be called any number of times; the deinit of a hold calls it too.
    func release() {
        if !isReleased.exchange(true, ordering: .acquiringAndReleasing) { giveBack() }
    }

    /// Runs the body under the hold.
    func entered<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        var scope = CallScope.current ?? CallScope()
        scope.rights.append(right)
        return try await scope.entered(body)
    }
}

extension Subject {
    /// The same subject for the caller that has the hold, which lasts for as long as the result is there.
    func under(_ hold: Hold) -> any Subject<Service> {
        var next: any Subject<Service> = self
        // A hold ends with the one that it was taken under, and so does not keep that.
        if var outer = self as? ScopedSubject<Service> {
            outer.hold = nil
            next = outer
        }
        return ScopedSubject(next: next, includesPosts: true, hold: hold) { [right = hold.right] scope in
            var scope = scope ?? CallScope()
            scope.rights.append(right)
            return scope
        }
    }
}

extension MethodSignature {
    /// The signature that policies and observers see when a subject of the service is held.
    static func hold(of service: String) -> MethodSignature {
        MethodSignature(
            service: service, name: "rpc.hold", parameters: [], result: nil, shape: .call, effect: .changes)
    }
}

/// Something that the running task may do and others may not. Kept in `CallScope`, where each kind of subject looks for its own
/// kind of right.
protocol Right: Sendable {
    /// Whether others wait for the end of this right.
    var isHold: Bool { get }
}

extension Right {
    var isHold: Bool { false }
}
