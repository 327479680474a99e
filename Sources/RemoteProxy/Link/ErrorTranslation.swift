// Errors across the wire, both directions in one place: what a subject threw becomes an error object without giving
// away what the service did not declare, and an error object becomes what the caller catches.

import JSONCodec
import RPCWire

/// What stands in `error.data` between our own ends. Foreign peers may put anything there.
private struct DeclaredError<Failure: Codable>: Codable {
    var type: String
    var spelling: String?
    var error: Failure
}

private struct ErrorDetails: Codable {
    var type: String?
    /// The type's spelling in `@Service(errors:)`, where that is not `type`.
    var spelling: String?
    var outcome: String?
}

extension ErrorObject {
    /// The answer to a call that ended with an error.
    /// - Parameters:
    ///   - outcome: what became of the work, for an error that does not say so itself.
    ///   - method: by its name on the wire.
    init(
        _ error: any Error, _ outcome: RPCError.Outcome, thrownBy method: String, of service: ServiceDescription,
        log: (String) -> Void
    ) {
        if let declared = service.declared(error) {
            self = declared
        } else if let error = error as? RPCError {
            // Only the message travels.
            if let cause = error.underlying { log("\(method): \(error.message), because of \(cause)") }
            self.init(error)
        } else if error is CancellationError {
            self.init(RPCError(.cancelled, "the subject was cancelled", outcome: outcome))
        } else {
            // The text stays here: it may hold paths, names or secrets. The number ties the two ends together.
            let reference = String(UInt32.random(in: .min ... .max), radix: 36)
            if let result = error as? UnencodableResult {
                log("the result of \(method) cannot be encoded, reference \(reference): \(result.error)")
            } else {
                log(
                    "\(method) threw an undeclared error, reference \(reference): \(error); "
                        + "callers get it if @Service(errors:) lists \(type(of: error))")
            }
            let text = "\(method) failed; its log has the details under the reference \(reference)"
            self.init(RPCError(.internalError, text, outcome: outcome))
        }
    }

    init(_ error: RPCError) {
        var data = error.data.map { isJSON($0) ? $0 : quoted($0) }
        if error.outcome != error.code.usualOutcome || data.map({ Bytes($0) })?.looksLikeDetails == true {
            // An outcome that the code alone does not tell goes around the data, and around data that could be taken for it.
            data = "{\"outcome\":\"\(error.outcome.rawValue)\"\(data.map { ",\"data\":\($0)" } ?? "")}"
        }
        self.init(code: error.code.rawValue, message: error.message, data: data.map { Bytes($0) })
    }

    /// Nil when the error is of another type, or cannot be encoded.
    fileprivate init?<Failure: Error & Codable & Sendable>(
        _ error: any Error, declaredAs type: Failure.Type, spelled spelling: String, by service: ServiceDescription
    ) {
        guard let failure = error as? Failure else { return nil }
        let names = service.wireNames(of: type, spelled: spelling)
        let output = JSONOutput()
        let data = DeclaredError(type: names.type, spelling: names.spelling, error: failure)
        guard (try? output.encode(data)) != nil else { return nil }
        self.init(
            code: RPCError.Code.application.rawValue, message: "\(names.spelling ?? names.type).\(failure)",
            data: Bytes(copying: output.bytes))
    }

    /// What the caller of a method of `service` catches.
    func thrown(by service: ServiceDescription) -> any Error {
        // What a subject has put there has an object around it.
        let details = data.flatMap {
            $0.withUnsafeBytes { try? decodeJSON(ErrorDetails.self, from: $0, maximumDepth: JSONReader.deepestLimit) }
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

extension ServiceDescription {
    /// A thrown error of a listed type as it travels; nil for any other.
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

extension Bytes {
    /// Whether these are details as the library itself sends them: an object may put the same into an error of its own.
    fileprivate var looksLikeDetails: Bool {
        ["outcome", "type", "draining"].contains { member($0, of: self) != nil }
    }
}

/// An object may put any text into an error; on the wire stands JSON, or the whole reply would be none.
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
