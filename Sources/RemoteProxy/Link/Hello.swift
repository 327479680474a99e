// What two ends say to each other besides calls, as it stands on the wire: the names that belong to the protocol and not to a
// service, and their parameters.

import JSONCodec
import RPCWire

enum SystemMethod {
    static let hello = "rpc.hello"
    static let authenticate = "rpc.authenticate"
    static let ping = "rpc.ping"
    static let discover = "rpc.discover"
    /// How far the sender has come with what the receiver sends.
    static let received = "rpc.received"
    /// The sender waits to be told, and begins no call before.
    static let report = "rpc.report"
    /// The sender takes no new calls.
    static let drain = "rpc.drain"
    /// The sender leaves and does not come back.
    static let goodbye = "rpc.goodbye"
    static let supports = "rpc.supports"
    static let hold = "rpc.hold"
    static let release = "rpc.release"
    static let cancel = "$/cancelRequest"
}

/// What the dialling end says first.
struct Hello: Codable {
    struct Resumption: Codable {
        var session: String
        var received: Progress
    }

    /// The version of what our own ends agree on beyond JSON-RPC. Without it the first is meant.
    var `protocol`: Int? = 1
    /// What its calls may take unless they say otherwise, in milliseconds.
    var timeout: Int64?
    /// Proves the sender's identity, if the other end wants to know.
    var token: String?
    /// The most bytes that a message to it may have.
    var maximumFrameSize: Int?
    /// The session that it would go on with.
    var resume: Resumption?

    /// With a time below zero no call would ever run, and no caller would be told why.
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
    /// it is not known any more, or because it is another's: the answers are the same.
    var resumed: Progress?
}

/// How far one end has come with what the other sends in their session.
struct Progress: Codable {
    /// The highest number of a call or a post.
    var requests: Int64
    /// How many answers.
    var replies: Int64

    init(_ receipts: Receipts) {
        requests = receipts.requests
        replies = receipts.replies
    }
}

extension Request {
    /// Whether an end that does not know it ignores it.
    var isOptional: Bool { withExtendedLifetime(self) { methodName.starts(with: "$/".utf8) } }

    /// Whether the name is one of the protocol's own.
    var isSystem: Bool { isOptional || withExtendedLifetime(self) { methodName.starts(with: "rpc.".utf8) } }
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
