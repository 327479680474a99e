// A subject held by one caller, while all others wait.

import Synchronization

/// The right to a locked subject for several calls. Made by `Subject.hold`, used by `proxy.exclusively { … }`. Calls made under
/// it pass the lock that it stands for; all others wait.
final class Hold: Sendable {
    let right: any Right
    private let giveBack: @Sendable () -> Void
    private let isReleased = Atomic(false)

    init(_ right: any Right, giveBack: @escaping @Sendable () -> Void) {
        self.right = right
        self.giveBack = giveBack
    }

    deinit { release() }

    /// Lets the next one have the subject. Any number of times; a hold that is let go is given back too.
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
    /// What policies and observers see when a subject of the service is taken for several calls.
    static func hold(of service: String) -> MethodSignature {
        MethodSignature(
            service: service, name: "rpc.hold", parameters: [], result: nil, shape: .call, effect: .changes)
    }
}

/// What the running task may do and others may not. It stands in `CallScope`, where a subject looks for its own kind.
protocol Right: Sendable {
    /// Whether others wait for its end.
    var isHold: Bool { get }

    /// What an object at the other end of a connection is called under this right. Nil unless it is a right to that object.
    func name(of object: RemoteObject) -> String?
}

extension Right {
    var isHold: Bool { false }
    func name(of object: RemoteObject) -> String? { nil }
}

/// An object at the other end of a connection.
struct RemoteObject: Equatable {
    /// Which `Requester`.
    let peer: ObjectIdentifier
    let service: String
    /// Which of several objects of the service. Nil for the unnamed one.
    let name: String?
}
