// The subject that is elsewhere: turns a method and its arguments into a message for the peer, and the peer's answer
// into the result or the error. Everything left of here knows Swift; everything right of here knows JSON.

import JSONCodec
import RPCWire

struct RemoteSubject<Service: Sendable>: Subject {
    let peer: Peer
    /// The service's name.
    let service: String
    /// Which of several objects of this service at the other end; nil for the unnamed one.
    let object: String?
    /// Whoever keeps the connection up, kept alive for as long as somebody can call through it.
    let owner: (any AnyObject & Sendable)?

    /// Inlined where it is called as a `Subject`, for the reason that `Peer.perform` is.
    @inline(__always)
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        let scope = CallScope.current
        let call = peer.newCall(in: scope)
        defer { peer.spareCalls.give(call) }
        call.isRepeatable = method.signature.isRepeatable
        try encode(method.signature, arguments, object(in: scope), into: call.message)
        switch await peer.perform(call) {
        case .result(let json): return try decode(json, of: method.signature)
        case .failure(let error): throw Self.error(error.thrown(by: method.service), of: call)
        case .failed(let error): throw error
        case .cancelled: throw CancellationError()
        }
    }

    /// That a second run was refused says nothing of the first.
    private static func error(_ error: any Error, of call: OutgoingCall) -> any Error {
        guard call.mayHaveRun, var error = error as? RPCError, error.outcome == .notExecuted else { return error }
        error.outcome = .unknown
        return error
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        let scope = CallScope.current
        let call = peer.newCall(in: scope)
        call.isPost = true
        do {
            try encode(post.signature, arguments, object(in: scope), into: call.message)
            peer.send(post: call)
        } catch {
            // A post reports nothing to its caller; the log is the only place left.
            peer.log("the post \(post.signature.wireName) was not sent: \(error)")
            peer.spareCalls.give(call)
        }
    }

    private func encode(
        _ signature: MethodSignature, _ arguments: some MethodArguments, _ object: String?, into message: JSONOutput
    ) throws {
        if object == nil {
            message.append(raw: signature.opening)
        } else {
            MessageEncoder.openRequest(method: signature.wireName(on: object), in: message)
        }
        var writer = ArgumentWriter(message)
        do {
            try arguments.write(to: &writer)
        } catch {
            throw RPCError(
                .invalidArguments, "the arguments of \(signature.wireName) cannot be encoded: \(error)",
                outcome: .notExecuted, underlying: error)
        }
        writer.finish()
    }

    private func decode<Result: Decodable>(_ json: Bytes, of signature: MethodSignature) throws -> Result {
        do {
            return try json.withUnsafeBytes { try decodeJSON(Result.self, from: $0) }
        } catch {
            let reason = (error as? DecodingError)?.explanation ?? "\(error)"
            throw RPCError(
                .invalidReply, "the result of \(signature.wireName) is not a \(Result.self): \(reason)",
                outcome: .executed, underlying: error)
        }
    }
}
