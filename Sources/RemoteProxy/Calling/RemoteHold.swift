// A hold on an object at the other end of a connection: asked for with `rpc.hold`, used by calling the object under the
// hold's name, and given back with `rpc.release`.

import JSONCodec
import RPCWire
import Synchronization

/// What stands in the parameters of `rpc.hold`.
struct HoldRequest: Codable {
    /// What is to be held: `Ledger` or `Ledger[visits]`.
    var object: String
    /// What the object is to be called under the hold: `~` and anything, used once in a session.
    var name: String
    /// Milliseconds.
    var lease: Int64
}

/// What stands in the parameters of `rpc.release`.
struct ReleaseRequest: Codable {
    /// As in the request for the hold.
    var object: String
    var name: String
}

struct RemoteHold: Right {
    let peer: Requester
    let service: String
    let object: String?
    /// Chosen at this end, so that it can be given back even if the answer never came.
    let name = "~\(count.add(1, ordering: .relaxed).newValue)"

    private static let count = Atomic(0)

    var isHold: Bool { true }

    func name(of object: RemoteObject) -> String? {
        object == RemoteObject(peer: ObjectIdentifier(peer), service: service, name: self.object) ? name : nil
    }

    private var path: String { MethodSignature.path(of: service, on: object) }

    /// Waits at the other end until the object is this one's.
    func begin(_ lease: Duration) async throws {
        let call = peer.newCall()
        defer { peer.spareCalls.give(call) }
        MessageWriter.openRequest(method: SystemMethod.hold, in: call.message)
        try call.message.encode(HoldRequest(object: path, name: name, lease: lease.nanoseconds / 1_000_000))
        switch await peer.perform(call) {
        case .result: return
        case .failure(let error): throw error.thrown(by: ServiceDescription(service))
        case .failed(let failure):
            end()
            throw peer.error(failure)
        }
    }

    /// A post, so that it does not overtake those made under the hold.
    func end() {
        let call = peer.newCall()
        call.isPost = true
        MessageWriter.openRequest(method: SystemMethod.release, in: call.message)
        // Two strings cannot fail to encode.
        try? call.message.encode(ReleaseRequest(object: path, name: name))
        peer.send(post: call)
    }
}

extension RemoteSubject: HoldableSubject {
    /// Asks the other end; under its lease, and for as long as the session lives.
    func takeHold(for lease: Duration) async throws -> Hold {
        let hold = RemoteHold(peer: peer, service: service, object: object(in: .current))
        try await hold.begin(lease)
        return Hold(hold) { hold.end() }
    }
}
