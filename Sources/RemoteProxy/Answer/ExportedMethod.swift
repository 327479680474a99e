// A method with its types erased: what the dispatcher finds under a wire name.

import JSONCodec
import RPCWire
import Synchronization

/// A method bound to a proxy, ready to be run with arguments from the wire. A class, because every request carries one along.
final class ExportedMethod: Sendable {
    let signature: MethodSignature
    /// Stored, because every request asks for it.
    let isPost: Bool
    let service: _ServiceDescription
    /// Whether there is an object that has the method: behind a subject at the other end of a connection there may be none.
    let supports: @Sendable () async throws -> Bool
    /// The object that `run` calls: an `ObjectReference` of the type that `run` expects.
    let object: any AnyObject & Sendable
    /// Decodes the arguments, runs the subject, and encodes its result at the end of the output. Then goes on with further
    /// calls of the same method that are next in line. A thrown error belongs to the last call that it began. Errors in
    /// arguments or results are thrown without the method's name; `explained` adds it.
    let run: @Sendable (IncomingCall) async throws -> Void
    /// Whether `run` does something around a call that must not hold for the next call.
    let endsAfterOneCall: Bool
    /// Whether the log has been told that the method keeps its thread for long.
    let isToldOf = Atomic(false)

    /// - Parameter object: left out by a `run` that has its own object, and must not ask the call for one.
    init(
        signature: MethodSignature, service: _ServiceDescription,
        supports: @escaping @Sendable () async throws -> Bool = { true }, endsAfterOneCall: Bool = false,
        object: any AnyObject & Sendable = ObjectReference(()),
        run: @escaping @Sendable (IncomingCall) async throws -> Void
    ) {
        self.endsAfterOneCall = endsAfterOneCall
        self.signature = signature
        isPost = signature.shape == .post
        self.service = service
        self.supports = supports
        self.object = object
        self.run = run
    }

    /// The error to tell the caller or the log for what `run` has thrown, and what became of the work.
    func explained(_ error: any Error) -> (error: any Error, outcome: RPCError.Outcome) {
        switch error {
        case is NeverBegan:
            (RPCError(.cancelled, "cancelled before it began", outcome: .notExecuted), .notExecuted)
        case let fault as ArgumentFault:
            (RPCError(.invalidArguments, fault.explanation(for: signature), outcome: .notExecuted), .notExecuted)
        case let failure as ChainFailure:
            (failure.error, failure.outcome)
        case let error as RPCError:
            (error, error.outcome)
        case let result as UnencodableResult where (result.error as? EncodingError)?.isTooDeep == true:
            (
                RPCError(
                    .responseTooLarge,
                    "the result of \(signature.wireName) is nested deeper than a message may be (maximumDepth)",
                    outcome: .executed), .executed
            )
        default:
            // The error came from the object, which had begun.
            (error, .executed)
        }
    }
}

extension Method {
    /// Exports the method: calls go to the subject.
    func export(to subject: any Subject<Service>) -> ExportedMethod {
        // An object in this process is called directly, without its subject.
        if let object = (subject as? LocalSubject<Service>)?.object {
            return ExportedMethod(
                signature: signature, service: service, object: ObjectReference(object), run: answer)
        }
        return ExportedMethod(
            signature: signature, service: service, supports: { [signature] in try await subject.supports(signature) }
        ) { call in
            try call.answer(await subject.answer(self, call.arguments(self.coding, of: self.signature)), self.results)
        }
    }
}

extension Post {
    /// Exports the post: it goes to the proxy itself, since only the protocol knows which actor the post belongs to.
    func export(to proxy: some ServiceProxy<Service>) -> ExportedMethod {
        let subject = proxy.proxySubject
        return ExportedMethod(
            signature: signature, service: service, supports: { [signature] in try await subject.supports(signature) },
            object: ObjectReference(proxy.asService), run: answer)
    }
}
