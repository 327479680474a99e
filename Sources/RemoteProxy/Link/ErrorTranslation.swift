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

private struct ErrorDetails: Codable {
    var type: String?
    /// The type's spelling in `@Service(errors:)`; nil if it is the same as `type`.
    var spelling: String?
    var outcome: String?
}

extension ErrorObject {
    /// The answer to a call that ended with an error.
    /// - Parameters:
    ///   - outcome: what became of the work; counts only if the error does not say so itself.
    ///   - method: the method's name on the wire.
    init(
        _ error: any Error, _ outcome: RPCError.Outcome, thrownBy method: String, of service: _ServiceDescription,
        log: (LogRecord) -> Void
    ) {
        if let declared = service.declared(error) {
            self = declared
        } else if let error = error as? RPCError {
            // Only the message travels to the caller; the cause goes to the log.
            if let cause = error.underlying {
                log(LogRecord(.warning, "\(method): \(error.message), because of \(cause)", method: method))
            }
            self.init(error)
        } else if error is CancellationError {
            self.init(RPCError(.cancelled, "the subject was cancelled", outcome: outcome))
        } else {
            // The text of the error stays in this log: it may hold paths, names or secrets. The number ties the caller's
            // error to it.
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
            self.init(RPCError(.subjectFailed, text, outcome: outcome))
        }
    }

    init(_ error: RPCError) {
        var data = error.data.map { isJSON($0) ? $0 : quoted($0) }
        if error.outcome != error.code.usualOutcome || data.map({ lookLikeDetails(Bytes($0)) }) == true {
            // An outcome that the code alone does not tell is put around the data. So is any outcome if the data could be
            // mistaken for one.
            data = "{\"outcome\":\"\(error.outcome.rawValue)\"\(data.map { ",\"data\":\($0)" } ?? "")}"
        }
        self.init(code: error.code.rawValue, message: error.message, data: data.map { Bytes($0) })
    }

    /// Nil when the error is of another type, or cannot be encoded.
    fileprivate init?<Failure: Error & Codable & Sendable>(
        _ error: any Error, declaredAs type: Failure.Type, spelled spelling: String, by service: _ServiceDescription
    ) {
        guard let failure = error as? Failure else { return nil }
        let names = service.wireNames(of: type, spelled: spelling)
        let output = JSONOutput()
        let data = DeclaredError(type: names.type, spelling: names.spelling, error: failure)
        guard (try? output.encode(data)) != nil else { return nil }
        self.init(
            code: RPCError.Code.unlistedError.rawValue, message: "\(names.spelling ?? names.type).\(failure)",
            data: Bytes(copying: output.bytes))
    }

    /// The error that the caller of a method of `service` catches.
    func thrown(by service: _ServiceDescription) -> any Error {
        // Data that a subject put into its error has an object around it, and so is not taken for details.
        var details = data.flatMap {
            $0.withUnsafeBytes { try? decodeJSON(ErrorDetails.self, from: $0, maximumDepth: JSONReader.deepestLimit) }
        }
        if [details?.type, details?.spelling, details?.outcome].contains(where: {
            $0?.utf8.count ?? 0 > String.longestCompared
        }) {
            details = nil
        }
        if let name = details?.type, let type = service.errorType(named: name, spelling: details?.spelling),
            let failure = declared(as: type)
        {
            return failure
        }
        let code = RPCError.Code(rawValue: self.code)
        let outcome = details?.outcome.flatMap(RPCError.Outcome.init(rawValue:)) ?? code.usualOutcome
        let own = details?.outcome == nil ? data : data.flatMap { member("data", of: $0) }
        return RPCError(code, message, outcome: outcome, data: own?.description)
    }

    private func declared<Failure: Error & Codable & Sendable>(as type: Failure.Type) -> (any Error)? {
        data?.withUnsafeBytes { try? decodeJSON(DeclaredError<Failure>.self, from: $0).error }
    }
}

extension _ServiceDescription {
    /// The error object for a thrown error of a listed type; nil for any other error.
    fileprivate func declared(_ error: any Error) -> ErrorObject? {
        for (spelling, type) in errors {
            if let object = ErrorObject(error, declaredAs: type, spelled: spelling, by: self) { return object }
        }
        return nil
    }
}

/// The JSON text of one member of an object.
private func member(_ name: String, of object: Bytes) -> Bytes? {
    object.withUnsafeBytes { bytes in
        var reader = JSONReader(bytes, maximumDepth: JSONReader.deepestLimit)
        do throws(JSONError) {
            try reader.enterObject()
            while let key = try reader.nextMember() {
                let range = try reader.skipValue()
                if key.matches(name) { return object[range] }
            }
        } catch {}
        return nil
    }
}

/// Whether some bytes read as details that the library sends. A subject may put the same members into an error of its own.
private func lookLikeDetails(_ data: Bytes) -> Bool {
    ["outcome", "type", "draining"].contains { member($0, of: data) != nil }
}

/// Whether a text is JSON. A subject may put any text into an error, but text that is not JSON would spoil the whole reply.
private func isJSON(_ text: String) -> Bool {
    Bytes(text).withUnsafeBytes { bytes in
        var reader = JSONReader(bytes)
        do throws(JSONError) {
            _ = try reader.skipValue()
            try reader.finish()
            return true
        } catch {
            return false
        }
    }
}

private func quoted(_ text: String) -> String {
    let output = JSONOutput()
    output.append(quoted: text)
    return Bytes(copying: output.bytes).description
}
