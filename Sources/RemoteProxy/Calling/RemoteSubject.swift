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
        let call = try newCall(method.signature, arguments)
        let end = await peer.perform(call)
        let mayHaveRun = call.mayHaveRun
        peer.spareCalls.give(consume call)
        switch end {
        case .result(let json): return try decode(json, of: method.signature)
        case .failure(let error): throw Self.error(error.thrown(by: method.service), mayHaveRun)
        case .failed(let error): throw error
        case .cancelled: throw CancellationError()
        }
    }

    /// That a second run was refused says nothing of the first.
    private static func error(_ error: any Error, _ mayHaveRun: Bool) -> any Error {
        guard mayHaveRun, var error = error as? RPCError, error.outcome == .notExecuted else { return error }
        error.outcome = .unknown
        return error
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        do {
            let call = try newCall(post.signature, arguments)
            call.isPost = true
            peer.send(post: call)
        } catch {
            // A post reports nothing to its caller; the log is the only place left.
            peer.log("the post \(post.signature.wireName) was not sent: \(error)")
        }
    }

    /// A call in the scope of the running task, its message written but for the end.
    private func newCall(_ signature: MethodSignature, _ arguments: some MethodArguments) throws -> OutgoingCall {
        let scope = CallScope.current
        let call = peer.newCall(in: scope)
        call.isRepeatable = signature.isRepeatable
        let message = call.message
        if let object = object(in: scope) {
            MessageEncoder.openRequest(method: signature.wireName(on: object), in: message)
        } else {
            message.append(raw: signature.opening)
        }
        var writer = ArgumentWriter(consume message)
        do {
            try arguments.write(to: &writer)
        } catch {
            peer.spareCalls.give(call)
            throw Self.notEncoded(signature, error)
        }
        writer.finish()
        return call
    }

    private func decode<Result: Decodable>(_ json: Bytes, of signature: MethodSignature) throws -> Result {
        defer { extendLifetime(json) }
        do {
            return try decodeJSON(Result.self, from: json.memory)
        } catch {
            throw Self.notDecoded(signature, Result.self, error)
        }
    }

    // Elsewhere, since putting errors into words makes room for them beforehand.

    @inline(never)
    private static func notEncoded(_ signature: MethodSignature, _ error: any Error) -> RPCError {
        RPCError(
            .invalidArguments, "the arguments of \(signature.wireName) cannot be encoded: \(error)",
            outcome: .notExecuted, underlying: error)
    }

    @inline(never)
    private static func notDecoded(_ signature: MethodSignature, _ type: Any.Type, _ error: any Error) -> RPCError {
        let reason = (error as? DecodingError)?.explanation ?? "\(error)"
        return RPCError(
            .invalidReply, "the result of \(signature.wireName) is not a \(type): \(reason)",
            outcome: .executed, underlying: error)
    }
}
