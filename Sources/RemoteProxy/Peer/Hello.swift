// What two ends of our own kind say to each other first, as it stands on the wire.

import JSONCodec
import RPCWire

/// What the dialling end says first.
struct Hello: Codable {
    struct Resumption: Codable {
        var session: String
        var received: Progress
    }

    /// The version of what our own ends agree on beyond JSON-RPC. Who leaves it out means the first, and is not to wonder why
    /// a token in the same hello proves nothing.
    var `protocol`: Int? = 1
    /// What its calls may take unless they say otherwise, in milliseconds.
    var timeout: Int64?
    /// Who says it, if the other end wants to know.
    var token: String?
    /// The most bytes that a message to it may have.
    var maximumFrameSize: Int?
    /// The session that it would go on with.
    var resume: Resumption?

    /// With a time below zero no call would ever run, and nobody would be told why.
    func checked() throws(RPCError) -> Hello {
        guard timeout ?? 0 >= 0 else {
            throw .wrongParameters(of: SystemMethod.hello, "at .timeout: it is below zero")
        }
        return self
    }
}

/// What the other end answers.
struct Welcome: Codable {
    var `protocol` = 1
    var session: String
    /// The most bytes that a message to it may have.
    var maximumFrameSize: Int?
    /// How long the session waits for the other end to come back, in milliseconds.
    var grace: Int64?
    /// How far this end has come in the session that goes on; nil when one begins, because none was asked for, because
    /// it is not known any more, or because it is not the asker's: nobody can tell which.
    var resumed: Progress?
}

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

private struct TooManyBytes: Error, CustomStringConvertible {
    var description: String { "they have more than \(mostBytes) bytes" }
}
