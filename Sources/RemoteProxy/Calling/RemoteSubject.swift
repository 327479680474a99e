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
    /// Whoever keeps the connection up, kept alive for as long as somebody can call through it.
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

// Whether the other end has a method: asked once for each connection. Ends of our own kind answer `rpc.supports`, others
// `rpc.discover`.

/// What the other end of a connection has said that it has. Part of the peer's locked state.
struct SupportedMethods {
    private var connection: Int?
    private var answers: [String: Bool] = [:]

    func answer(_ method: String, over connection: Int?) -> Bool? {
        connection == self.connection ? answers[method] : nil
    }

    /// Another connection may lead to another server: what was known is forgotten.
    mutating func note(_ answer: Bool, _ method: String, over connection: Int?) {
        guard let connection else { return }
        if connection != self.connection {
            self.connection = connection
            answers = [:]
        }
        answers[method] = answer
    }
}

extension RemoteSubject {
    func supports(_ method: MethodSignature) async throws -> Bool {
        try await peer.supports(method.wireName(on: object))
    }
}

extension Peer {
    fileprivate func supports(_ method: String) async throws -> Bool {
        let connection = connectionNumber
        if let known = state.withLock({ $0.supported.answer(method, over: connection) }) { return known }
        let answer = try await asked(method)
        // Whose answer it is, is certain only if nothing has changed meanwhile.
        if let connection, connection == connectionNumber {
            state.withLock { $0.supported.note(answer, method, over: connection) }
        }
        return answer
    }

    private var connectionNumber: Int? { state.withLock { $0.connection?.number } }

    private func asked(_ method: String) async throws -> Bool {
        do {
            return try await ask(SystemMethod.supports) { output in
                output.append(#"{"method":"#)
                output.append(quoted: method)
                output.append("}")
            }
        } catch let error as RPCError where error.code == .unimplemented {
            return try await listed(method)
        }
    }

    private func listed(_ method: String) async throws -> Bool {
        do {
            let document: MethodList = try await ask(SystemMethod.discover) { $0.append("[]") }
            return document.methods.contains { $0.name == method }
        } catch let error as RPCError where error.code == .unimplemented {
            throw RPCError(
                .unimplemented,
                "the other end cannot say whether it has \(method): it has neither rpc.supports nor rpc.discover; "
                    + "call the method and see",
                outcome: .notExecuted)
        }
    }

    private func ask<Answer: Decodable>(_ question: String, _ params: (JSONOutput) -> Void) async throws -> Answer {
        let call = newCall()
        defer { spareCalls.give(call) }
        MessageEncoder.openRequest(method: question, in: call.message)
        params(call.message)
        switch await perform(call) {
        case .result(let json):
            do {
                return try json.withUnsafeBytes { try decodeJSON(Answer.self, from: $0) }
            } catch {
                throw RPCError(
                    .invalidReply, "the answer to \(question) cannot be understood", outcome: .executed,
                    underlying: error)
            }
        case .failure(let error): throw error.thrown(by: ServiceDescription("rpc"))
        case .failed(let error): throw error
        case .cancelled: throw CancellationError()
        }
    }
}

/// What is wanted of an OpenRPC document.
private struct MethodList: Decodable {
    struct Entry: Decodable { var name: String }
    var methods: [Entry]
}
