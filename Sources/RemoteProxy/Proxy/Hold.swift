// A subject held by one caller, while everybody else waits.

import Synchronization

/// The right to a locked subject for several calls. Made by `Subject.hold`; `proxy.exclusively { … }` is the way to use
/// one. Calls made under it pass the lock that it stands for; everybody else's wait.
public final class Hold: Sendable {
    let right: Right
    private let giveBack: @Sendable () -> Void
    private let isReleased = Atomic(false)

    init(_ right: Right, giveBack: @escaping @Sendable () -> Void) {
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

/// What the running task has and others have not. Subjects look for their own kind in `CallScope`.
enum Right: Sendable {
    /// A hold on a lock: calls take turns with the lock inside it.
    case lock(SubjectLock, inside: SubjectLock)
    /// A hold at the other end of a connection: calls go to the object under another name.
    case remote(RemoteHold)
    /// A handle on a counted object, which is then not counted for the caller besides.
    case handle(of: ObjectIdentifier)

    /// Whether others wait for its end.
    var isHold: Bool {
        switch self {
        case .lock, .remote: true
        case .handle: false
        }
    }
}
