// A hold on an object at the other end of a connection. It is asked for with `rpc.hold`, and is a reference to the object: calls to
// that are made under the hold, and the hold ends when the reference is given back.

import JSONCodec
import RPCWire

struct RemoteHold: Right {
    /// What is held.
    let object: RemoteObject
    /// The same under the hold.
    let reference: RemoteReference

    var isHold: Bool { true }
}

/// An object at the other end of a connection.
struct RemoteObject: Hashable {
    /// The `Requester` that leads there.
    let requester: ObjectIdentifier
    let service: String
    /// Which of several objects of the service; nil for the unnamed one.
    let name: String?
    /// The session in which that is the name of an object by reference; nil for any other name.
    let session: ObjectIdentifier?
}

extension RemoteSubject: HoldableSubject {
    /// Asks the other end for a hold, and returns when it has granted it. The hold lasts for the lease, and at most as long as the
    /// session.
    func takeHold(for lease: Duration) async throws -> Hold {
        let held = target(in: .current)
        let call = requester.newCall()
        call.isAwaited(in: .current, through: requester)
        defer { requester.spareCalls.give(call) }
        bind(call, to: held)
        MessageWriter.openRequest(method: SystemMethod.hold, in: call.message)
        let path = MethodSignature.path(of: service, on: held?.name ?? object)
        try call.message.encode(HoldRequest(object: path, lease: lease.nanoseconds / 1_000_000))
        switch await requester.perform(call) {
        case .result(let json):
            let token = try json.withUnsafeBytes { try decodeJSON(ObjectToken.self, from: $0) }
            let hold = RemoteHold(object: remoteObject(held), reference: try call.reference(token, of: service))
            return Hold(hold) { [requester] in
                // Now, and not with the last reference: a task that outlives the body may keep that for long, while others wait.
                hold.reference.session.forget(hold.reference)
                requester.giveBack()
            }
        case .failure(let error): throw _ServiceDescription(service).error(from: error)
        case .failed(let failure): throw requester.error(failure)
        }
    }
}

/// The parameters of `rpc.hold`.
struct HoldRequest: Codable {
    /// The object to hold: `Ledger`, `Ledger[visits]` or `Ledger[#5]`.
    var object: String
    /// In milliseconds.
    var lease: Int64
    /// Sent only by ends of earlier releases, which are refused.
    var name: String?
}
