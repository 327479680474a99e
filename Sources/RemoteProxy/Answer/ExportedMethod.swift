// A method with its types forgotten: what the dispatcher finds under a wire name.

import JSONCodec
import RPCWire
import Synchronization

/// A method bound to a proxy, ready to be run with arguments from the wire. Opaque outside the library. A class,
/// because every request carries one along.
public final class _ExportedMethod: Sendable {
    let signature: MethodSignature
    /// Every request asks.
    let isPost: Bool
    let service: ServiceDescription
    /// Whether there is an object that has it: a subject at the other end of a connection may know none.
    let supports: @Sendable () async throws -> Bool
    /// What `run` calls: an `_ExportedObject` of the type that it expects.
    let object: any AnyObject & Sendable
    /// Decodes the arguments, runs the subject, encodes its result at the end of the output, and goes on with the calls of the
    /// same method that are next in line: what it throws belongs to the last that it began. What is wrong with the arguments
    /// or the result is thrown without the method's name; `explained` adds it.
    let run: @Sendable (_IncomingCall) async throws -> Void
    /// Whether `run` does something around a call, which is not to hold for the next.
    let isAlone: Bool
    /// Whether the log has been told that it keeps its thread for long.
    let isToldOf = Atomic(false)

    init(
        signature: MethodSignature, service: ServiceDescription,
        supports: @escaping @Sendable () async throws -> Bool = { true }, isAlone: Bool = false,
        object: any AnyObject & Sendable, run: @escaping @Sendable (_IncomingCall) async throws -> Void
    ) {
        self.isAlone = isAlone
        self.signature = signature
        isPost = signature.shape == .post
        self.service = service
        self.supports = supports
        self.object = object
        self.run = run
    }

    /// - Parameter answer: knows by itself whom it calls, and must not ask the call for an object.
    convenience init(
        signature: MethodSignature, service: ServiceDescription,
        supports: @escaping @Sendable () async throws -> Bool = { true },
        answer: @escaping @Sendable (_IncomingCall) async throws -> Void
    ) {
        self.init(signature: signature, service: service, supports: supports, object: _ExportedObject(()), run: answer)
    }

    /// What `run` has thrown, as the caller or the log is to be told, and what became of the work.
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
            // The object is the whole chain, and has begun.
            (error, .executed)
        }
    }
}

extension Method: ServiceMethod {
    /// Calls go to the proxy's subject.
    public func _export(_ proxy: some ServiceProxy<Service>) -> _ExportedMethod {
        let subject = proxy.proxySubject
        // An object that is here needs no subject in between.
        if let object = (subject as? LocalSubject<Service>)?.object {
            return _ExportedMethod(
                signature: signature, service: service, object: _ExportedObject(object), run: answer)
        }
        return _ExportedMethod(
            signature: signature, service: service, supports: { try await subject.supports(signature) }
        ) { call in
            try call.answer(await subject.answer(self, call.arguments(Arguments.self)))
        }
    }
}

extension Post: ServiceMethod {
    /// Posts go to the proxy itself, since only the protocol knows which actor they belong to.
    public func _export(_ proxy: some ServiceProxy<Service>) -> _ExportedMethod {
        let subject = proxy.proxySubject
        return _ExportedMethod(
            signature: signature, service: service, supports: { try await subject.supports(signature) },
            object: _ExportedObject(proxy.asService), run: answer)
    }
}
