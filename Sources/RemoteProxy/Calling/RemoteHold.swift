// A hold on an object at the other end of a connection. It is asked for with `rpc.hold`, used by calling the object under the
// hold's name, and given back with `rpc.release`.

import JSONCodec
import RPCWire
import Synchronization

/// The parameters of `rpc.hold`.
struct HoldRequest: Codable {
    /// The object to hold: `Ledger` or `Ledger[visits]`.
    var object: String
    /// The name of the object under the hold: `~` and any text, used once in a session.
    var name: String
    /// In milliseconds.
    var lease: Int64
}

/// The parameters of `rpc.release`.
struct ReleaseRequest: Codable {
    /// As in the request for the hold.
    var object: String
    var name: String
}

struct RemoteHold: Right {
    let requester: Requester
    let service: String
    let object: String?
    /// Chosen at this end, so that the hold can be given back even if the answer never came.
    let name = "~\(count.add(1, ordering: .relaxed).newValue)"

    private static let count = Atomic(0)

    var isHold: Bool { true }

    func name(of object: RemoteObject) -> String? {
        object == RemoteObject(requester: ObjectIdentifier(requester), service: service, name: self.object) ? name : nil
    }

    private var path: String { MethodSignature.path(of: service, on: object) }

    /// Asks for the hold, and returns when the other end has granted it.
    func begin(_ lease: Duration) async throws {
        let call = requester.newCall()
        call.isAwaited(in: .current, through: requester)
        defer { requester.spareCalls.give(call) }
        MessageWriter.openRequest(method: SystemMethod.hold, in: call.message)
        try call.message.encode(HoldRequest(object: path, name: name, lease: lease.nanoseconds / 1_000_000))
        switch await requester.perform(call) {
        case .result: return
        case .failure(let error): throw error.thrown(by: _ServiceDescription(service))
        case .failed(let failure):
            end()
            throw requester.error(failure)
        }
    }

    /// Gives the hold back. A post, so that it does not overtake the posts made under the hold.
    func end() {
        let call = requester.newCall()
        MessageWriter.openRequest(method: SystemMethod.release, in: call.message)
        // Two strings cannot fail to encode.
        try? call.message.encode(ReleaseRequest(object: path, name: name))
        requester.send(post: call)
    }
}

extension RemoteSubject: HoldableSubject {
    /// Asks the other end for a hold. It lasts for the lease, and at most as long as the session.
    func takeHold(for lease: Duration) async throws -> Hold {
        let hold = RemoteHold(requester: requester, service: service, object: object(in: .current))
        try await hold.begin(lease)
        return Hold(hold) { hold.end() }
    }
}
