// One call to an object elsewhere, as the calling code sees it: where its arguments go, where it waits, and what it returns.
// Only the wait is inlined into the module of the protocol. Generic code of this module handles arguments and results, as
// `IncomingCall` does for answering.

import JSONCodec
import RPCWire

/// A call on its way to an object elsewhere. Opaque outside the library.
public struct _RemoteCall {
    // No references are counted here. The subject of the call keeps the requester. The owner of this value owns the call until
    // the result is there. `suspend` hands both to C as words.
    let requester: Unmanaged<Requester>
    let call: Unmanaged<OutgoingCall>

    /// - Parameter call: its message is written up to the arguments. `perform` releases it, `wait` does not.
    init(_ call: Unmanaged<OutgoingCall>, through requester: Requester) {
        self.call = call
        self.requester = .passUnretained(requester)
    }

    /// Makes the call and returns its result. Call it only once: when it returns, another call may have the memory. Inlined, so
    /// that the caller's own frame waits for the call.
    /// - Throws: an error that the service declares, `RPCError`, or `CancellationError` if the caller's task was cancelled.
    @inlinable @inline(__always)
    nonisolated(nonsending) func perform<Service, Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try method.begin(self, arguments)
        await wait()
        return try method.end(self)
    }

    /// Of the message that the arguments are written into, and of the reply.
    var context: CodingContext { call._withUnsafeGuaranteedRef { .passUnretained($0) } }

    func read<Result>(_ json: Bytes, _ results: _ResultCoding<Result>, of signature: MethodSignature) throws -> Result {
        defer { extendLifetime(json) }
        do {
            return try results.read(json.memory, context)
        } catch {
            throw Self.notDecoded(signature, Result.self, error)
        }
    }

    @inline(never)
    func error(_ answer: any Error, of signature: MethodSignature, _ mayHaveRun: Bool) -> any Error {
        guard var error = answer as? RPCError else { return answer }
        let peer = requester._withUnsafeGuaranteedRef { $0.link?.address }
        (error.method, error.peer) = (signature.wireName, peer)
        // A process may call several ends, and the text does not say which end lacks the method.
        if error.code == .noSuchMethod || error.code == .noSuchObject, let peer {
            error.underlying = PeerAnswer(description: "the answer of \(peer)")
        }
        return mayHaveRun ? error.after(.unknown) : error
    }

    // Not inlined: making the texts of errors reserves stack space beforehand.

    @inline(never)
    func notEncoded(_ error: any Error, _ signature: MethodSignature) -> any Error {
        requester._withUnsafeGuaranteedRef { $0.spareCalls.give(call.takeRetainedValue()) }
        if var error = error as? RPCError {
            error.method = signature.wireName
            return error.thrownByProxy
        }
        let reason = (error as? EncodingError)?.explanation ?? "\(error)"
        var failure = RPCError(
            .invalidArguments, "the arguments of \(signature.wireName) cannot be encoded: \(reason)",
            outcome: .notExecuted, underlying: error)
        failure.method = signature.wireName
        return failure.thrownByProxy
    }

    @inline(never)
    private static func notDecoded(_ signature: MethodSignature, _ type: Any.Type, _ error: any Error) -> any Error {
        let reason = (error as? DecodingError)?.explanation ?? "\(error)"
        var failure = RPCError(
            .invalidReply, "the result of \(signature.wireName) is not a \(type): \(reason)",
            outcome: .executed, underlying: error)
        failure.method = signature.wireName
        return failure.thrownByProxy
    }
}
