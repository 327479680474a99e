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

/// A subject for the caller that holds it. The hold lasts for as long as this value.
struct HeldSubject<Service: Sendable>: WrappingSubject, PassingSubject {
    var next: any Subject<Service>
    private let hold: Hold
    /// The right of this hold, after those of the holds around it. It does not keep those holds.
    private let rights: [any Right]

    init(_ subject: any Subject<Service>, by hold: Hold) {
        let outer = subject as? HeldSubject<Service>
        (next, self.hold, rights) = (outer?.next ?? subject, hold, (outer?.rights ?? []) + [hold.right])
    }

    private var scope: CallScope {
        var scope = CallScope.current ?? CallScope()
        scope.rights += rights
        return scope
    }

    func ask<Answer: Sendable>(
        isRepeatable: Bool, _ question: (any Subject<Service>) async throws -> Answer
    ) async throws -> Answer {
        try await scope.entered { try await question(next) }
    }

    @inline(__always)
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try await scope.entered { try await next.call(method, arguments) }
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        CallScope.with(scope) { next.post(post, arguments, now: now) }
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
