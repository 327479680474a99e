// The subject for an object elsewhere. Begins a message for the peer; `Method.begin` then adds the arguments. `Method.end`
// turns the answer into the result or the error. Layers before these two handle Swift values; layers behind them handle JSON.

import JSONCodec
import RPCSockets
import RPCWire

struct RemoteSubject<Service: Sendable>: EndSubject {
    let requester: Requester
    /// The service's name.
    let service: String
    /// Which of several objects of this service at the other end; nil for the unnamed one, and for one by reference.
    let object: String?
    /// Keeps the connection up; kept for as long as calls can be made through this subject.
    let owner: (any AnyObject & Sendable)?
    /// The object, if the other end has given it by reference.
    let reference: RemoteReference?

    init(requester: Requester, service: String, object: String?, owner: (any AnyObject & Sendable)?) {
        (self.requester, self.service, self.object, self.owner) = (requester, service, object, owner)
        reference = nil
    }

    init(to reference: RemoteReference, of service: String, through requester: Requester) {
        (self.requester, self.service, self.reference) = (requester, service, reference)
        (object, owner) = (nil, requester.owner)
    }

    /// Makes a call for a subject around this one. A proxy without such subjects makes the call itself, in the same way.
    /// `Method._call` does not come back here, since `_remoteCall` is never nil.
    @inline(__always)
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        guard let progress = method.progress else { return try await method._call(self, arguments) }
        progress.begin(.unknown)
        do {
            let result = try await method._call(self, arguments)
            progress.end(.unknown, as: .executed)
            return result
        } catch {
            progress.end(.unknown, as: error.outcomeOfRemoteCall)
            throw error
        }
    }

    func _remoteCall(_ signature: MethodSignature) -> _RemoteCall? {
        let scope = CallScope.current
        let call = newCall(signature, in: scope)
        call.isAwaited(in: scope, through: requester)
        return _RemoteCall(.passRetained(call), through: requester)
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        let call = newCall(post.signature, in: .current)
        do {
            var writer = _ArgumentWriter(call.message, in: .passUnretained(call))
            try post.coding.write(arguments, &writer)
            writer.writeEnd()
        } catch {
            // A post reports nothing to its caller, so this goes to the log.
            let reason = (error as? EncodingError)?.explanation ?? "\(error)"
            let name = post.signature.wireName
            requester.log(
                LogRecord(
                    .error, "the post \(name) was not sent: its arguments cannot be encoded: \(reason)", method: name))
            return requester.spareCalls.give(call)
        }
        requester.send(post: call, of: post.signature)
    }

    /// A call in the scope of the running task, with its message written up to the arguments.
    private func newCall(_ signature: MethodSignature, in scope: CallScope?) -> OutgoingCall {
        let call = requester.newCall(in: scope)
        let reference = target(in: scope)
        bind(call, to: reference)
        call.open(signature, to: object, reference)
        return call
    }

    /// Binds a call to the session of the reference under which it is made.
    func bind(_ call: OutgoingCall, to reference: RemoteReference?) {
        guard let reference else { return }
        call.target = reference === self.reference ? reference.session : reference.sessionOfHold
    }

    /// The reference to the object in that scope: the one of the innermost hold on it, or its own. Nil if it is called by its name.
    /// Inlined, since every call asks for it and few tasks have a right.
    @inline(__always)
    func target(in scope: CallScope?) -> RemoteReference? {
        guard let rights = scope?.rights, !rights.isEmpty else { return reference }
        return target(under: rights)
    }

    @inline(never)
    private func target(under rights: [any Right]) -> RemoteReference? {
        var (target, object) = (reference, remoteObject(reference))
        for case let hold as RemoteHold in rights where hold.object == object {
            (target, object) = (hold.reference, remoteObject(hold.reference))
        }
        return target
    }

    /// The object as one that a task may have rights to.
    /// - Parameter reference: what it is called by; nil if that is its name.
    func remoteObject(_ reference: RemoteReference?) -> RemoteObject {
        RemoteObject(
            requester: ObjectIdentifier(requester), service: service, name: reference?.name ?? object,
            session: reference.map { ObjectIdentifier($0.session) })
    }
}

extension Error {
    /// What became of a call that ended with this error. For a cancelled call, `Method.end` has noted that already.
    fileprivate var outcomeOfRemoteCall: RPCError.Outcome {
        if let error = self as? RPCError { return error.outcome }
        return self is CancellationError ? .notExecuted : .executed
    }
}
