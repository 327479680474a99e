// The parameters of the protocol's own messages: read like any others, and what is wrong with them is said.

import JSONCodec
import RPCWire

/// None of them needs more bytes. A message may have many more, which take long to look through.
private let mostBytes = 16 << 10

extension Decodable {
    init(json: Bytes) throws {
        guard json.count <= mostBytes else { throw TooManyBytes() }
        self = try json.withUnsafeBytes { try decodeJSON(Self.self, from: $0) }
    }

    /// Reads what a message of that method came with, of which nothing is the same as `{}`.
    init(of method: String, _ params: UnsafeRawBufferPointer) throws(RPCError) {
        guard params.count <= mostBytes else { throw .wrongParameters(of: method, TooManyBytes().description) }
        do {
            self = try params.isEmpty ? Self(json: Bytes("{}")) : decodeJSON(Self.self, from: params)
        } catch {
            throw .wrongParameters(of: method, (error as? DecodingError)?.explanation ?? "\(error)")
        }
    }

    init(of method: String, _ request: Request) throws(RPCError) {
        let params = request.params ?? Bytes.empty
        self = try params.withUnsafeBytes { (text) throws(RPCError) in try Self(of: method, text) }
    }
}

extension RPCError {
    static func wrongParameters(of method: String, _ reason: String) -> RPCError {
        RPCError(.invalidArguments, "\(method) was called with wrong parameters: \(reason)", outcome: .notExecuted)
    }
}

private struct TooManyBytes: Error, CustomStringConvertible {
    var description: String { "they have more than \(mostBytes) bytes" }
}
