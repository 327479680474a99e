// An `RPCError` as an error object, which is how it travels, and an error object as an `RPCError`.

import JSONCodec
import RPCWire

extension RPCError {
    /// The error object for the other end. What caused the error stays here.
    var errorObject: ErrorObject {
        var data = data.map { isJSON($0) ? $0 : quoted($0) }
        if outcome != code.usualOutcome || data.map({ lookLikeDetails(Bytes($0)) }) == true {
            // An outcome that the code alone does not tell is put around the data. So is any outcome if the data could be
            // mistaken for one.
            data = "{\"outcome\":\"\(outcome.rawValue)\"\(data.map { ",\"data\":\($0)" } ?? "")}"
        }
        return ErrorObject(code: code.rawValue, message: message, data: data.map { Bytes($0) })
    }

    /// - Parameter details: those of the object; nil if it has none.
    init(_ object: ErrorObject, _ details: ErrorDetails?) {
        let code = Code(rawValue: object.code)
        let outcome = details?.outcome.flatMap(Outcome.init(rawValue:)) ?? code.usualOutcome
        let own = details?.outcome == nil ? object.data : object.data.flatMap { member("data", of: $0) }
        self.init(code, object.message, outcome: outcome, data: own?.description)
    }
}

/// What ends that run this library put into `error.data`.
struct ErrorDetails: Codable {
    var type: String?
    /// The type's spelling in `@Service(errors:)`; nil if it is the same as `type`.
    var spelling: String?
    var outcome: String?

    /// Nil if the data is anything else. Data that a subject put into its error has an object around it, and so is not taken for
    /// details.
    init?(of object: ErrorObject) {
        let details = object.data.flatMap {
            $0.withUnsafeBytes { try? decodeJSON(Self.self, from: $0, maximumDepth: JSONReader.deepestLimit) }
        }
        guard let details,
            [details.type, details.spelling, details.outcome].allSatisfy({
                $0?.utf8.count ?? 0 <= String.longestCompared
            })
        else { return nil }
        self = details
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
