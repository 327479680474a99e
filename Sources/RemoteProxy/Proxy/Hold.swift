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

    /// Tells holds in this process apart; nil for any other right.
    var identity: ObjectIdentifier? { get }

    /// The name of an object at the other end of a connection under this right. Nil unless it is a right to that object.
    func name(of object: RemoteObject) -> String?
}

extension Right {
    var isHold: Bool { false }
    var identity: ObjectIdentifier? { nil }
    func name(of object: RemoteObject) -> String? { nil }
}

/// An object at the other end of a connection.
struct RemoteObject: Hashable {
    /// The `Requester` that leads there.
    let requester: ObjectIdentifier
    let service: String
    /// Which of several objects of the service; nil for the unnamed one.
    let name: String?
}
