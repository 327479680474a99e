// Translates errors in both directions. What a subject threw becomes an error object, without anything that the service did not
// declare. An error object becomes the error that the caller catches.

import JSONCodec
import RPCWire

/// The `error.data` of a declared error, between ends that run this library. Foreign peers may put anything there.
private struct DeclaredError<Failure: Codable>: Codable {
    var type: String
    var spelling: String?
    var error: Failure
}

/// A result that cannot be encoded. The text of the error is the object's own, so it goes into the log only.
struct UnencodableResult: Error {
    let error: any Error
}

extension _ServiceDescription {
    /// The answer to a call that ended with an error.
    /// - Parameters:
    ///   - outcome: what became of the work; counts only if the error does not say so itself.
    ///   - method: the method's name on the wire.
    func errorObject(
        from error: any Error, _ outcome: RPCError.Outcome, thrownBy method: String, log: (LogRecord) -> Void
    ) -> ErrorObject {
        if let declared = declared(error) { return declared }
        if let error = error as? RPCError {
            // Only the message travels to the caller; the cause goes to the log.
            if let cause = error.underlying {
                log(LogRecord(.warning, "\(method): \(error.message), because of \(cause)", method: method))
            }
            return error.errorObject
        }
        if error is CancellationError {
            return RPCError(.cancelled, "the subject was cancelled", outcome: outcome).errorObject
        }
        // The text of the error stays in this log: it may hold paths, names or secrets. The number ties the caller's error to it.
        let number = String(UInt32.random(in: .min ... .max), radix: 36)
        let what =
            if let result = error as? UnencodableResult {
                "the result of \(method) cannot be encoded, failure ID \(number): \(result.error)"
            } else {
                "\(method) threw an undeclared error, failure ID \(number): \(error); "
                    + "callers get it if @Service(errors:) lists \(type(of: error))"
            }
        log(LogRecord(.error, what, method: method, failureID: number))
        let text = "\(method) failed; its log has the details under the failure ID \(number)"
        return RPCError(.subjectFailed, text, outcome: outcome).errorObject
    }

    /// The error object for a thrown error of a listed type; nil for any other error.
    private func declared(_ error: any Error) -> ErrorObject? {
        for (spelling, type) in errors {
            if let object = declared(error, as: type, spelled: spelling) { return object }
        }
        return nil
    }

    /// Nil when the error is of another type, or cannot be encoded.
    private func declared<Failure: Error & Codable & Sendable>(
        _ error: any Error, as type: Failure.Type, spelled spelling: String
    ) -> ErrorObject? {
        guard let failure = error as? Failure else { return nil }
        let names = wireNames(of: type, spelled: spelling)
        let output = JSONOutput()
        let data = DeclaredError(type: names.type, spelling: names.spelling, error: failure)
        guard (try? output.encode(data)) != nil else { return nil }
        return ErrorObject(
            code: RPCError.Code.unlistedError.rawValue, message: "\(names.spelling ?? names.type).\(failure)",
            data: Bytes(copying: output.bytes))
    }

    /// The error that the caller of a method of this service catches.
    func error(from object: ErrorObject) -> any Error {
        let details = ErrorDetails(of: object)
        if let name = details?.type, let type = errorType(named: name, spelling: details?.spelling),
            let failure = declared(in: object, as: type)
        {
            return failure
        }
        return RPCError(object, details)
    }

    private func declared<Failure: Error & Codable & Sendable>(
        in object: ErrorObject, as type: Failure.Type
    ) -> (any Error)? {
        object.data?.withUnsafeBytes { try? decodeJSON(DeclaredError<Failure>.self, from: $0).error }
    }
}
