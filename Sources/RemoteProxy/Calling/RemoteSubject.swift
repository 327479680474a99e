// The subject that is elsewhere: begins a message for the peer, to which `_RemoteCall` adds the arguments and turns the answer
// into the result or the error. Everything left of the two knows Swift; everything right of them knows JSON.

import JSONCodec
import RPCSockets
import RPCWire

struct RemoteSubject<Service: Sendable>: EndSubject {
    let peer: Requester
    /// The service's name.
    let service: String
    /// Which of several objects of this service at the other end; nil for the unnamed one.
    let object: String?
    /// What keeps the connection up. It lives for as long as calls can be made through this subject.
    let owner: (any AnyObject & Sendable)?

    /// For the subjects around it: a proxy without any makes the call itself, in the same way. It does not come back here,
    /// since there always is a remote call.
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        guard let progress = method.progress else { return try await _call(method, arguments) }
        progress.begin(.unknown)
        do {
            let result = try await _call(method, arguments)
            progress.end(.unknown, as: .executed)
            return result
        } catch {
            progress.end(.unknown, as: error.outcomeOfRemoteCall)
            throw error
        }
    }

    func _remoteCall(_ signature: MethodSignature) -> _RemoteCall? {
        _RemoteCall(.passRetained(newCall(signature)), through: peer)
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        let call = newCall(post.signature)
        call.isPost = true
        do {
            var writer = ArgumentWriter(call.message)
            try arguments.write(to: &writer)
            writer.finish()
        } catch {
            // A post reports nothing to its caller; the log is the only place left.
            let reason = (error as? EncodingError)?.explanation ?? "\(error)"
            peer.log("the post \(post.signature.wireName) was not sent: its arguments cannot be encoded: \(reason)")
            return peer.spareCalls.give(call)
        }
        peer.send(post: call)
    }

    /// A call in the scope of the running task, its message written up to the arguments.
    private func newCall(_ signature: MethodSignature) -> OutgoingCall {
        let scope = CallScope.current
        let call = peer.newCall(in: scope)
        call.open(signature, to: object(in: scope))
        return call
    }

    /// What the object is called in that scope: by the name that the innermost right to it gives, or by its own. Inlined, since
    /// every call asks, and nearly none has a right.
    @inline(__always)
    func object(in scope: CallScope?) -> String? {
        guard let rights = scope?.rights, !rights.isEmpty else { return object }
        return rights.reduce(object) { name, right in
            right.name(of: RemoteObject(peer: ObjectIdentifier(peer), service: service, name: name)) ?? name
        }
    }
}

extension Error {
    /// What became of a call to the other end that ended so. Of one that was cancelled, `_RemoteCall` has noted it.
    fileprivate var outcomeOfRemoteCall: RPCError.Outcome {
        if let error = self as? RPCError { return error.outcome }
        return self is CancellationError ? .notExecuted : .executed
    }
}
