// A method with its types erased: what the dispatcher finds under a wire name.

import JSONCodec
import RPCWire

/// A method that any exported object of its service can be asked for, with arguments from the wire. A class, because every request
/// carries one along.
final class ExportedMethod: Sendable {
    let signature: MethodSignature
    /// Stored, because every request asks for it.
    let isPost: Bool
    /// Whether it is a post that may wait for what it calls.
    let isAsyncPost: Bool
    let service: _ServiceDescription
    /// Decodes the arguments, calls the object of the call, and encodes its result at the end of the output. Then goes on with further
    /// calls of the same method that are next in line. A thrown error belongs to the last call that it began. Errors in
    /// arguments or results are thrown without the method's name; `explained` adds it.
    let run: @Sendable (IncomingCall) async throws -> Void

    init(
        signature: MethodSignature, service: _ServiceDescription, isAsyncPost: Bool = false,
        run: @escaping @Sendable (IncomingCall) async throws -> Void
    ) {
        self.signature = signature
        isPost = signature.shape == .post
        self.isAsyncPost = isAsyncPost
        self.service = service
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
        case let result as UnencodableResult where result.error is RPCError:
            ((result.error as? RPCError)?.after(.executed) ?? result.error, .executed)
        default:
            // The error came from the object, which had begun.
            (error, .executed)
        }
    }
}
