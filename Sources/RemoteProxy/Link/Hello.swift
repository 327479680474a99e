// The wire format of what two ends say to each other besides calls: the parameters of the protocol's own methods.

import JSONCodec
import RPCWire

/// The parameters of `rpc.hello`, the first message of the dialling end.
struct Hello: Codable {
    struct Resumption: Codable {
        var session: String
        var received: Progress
    }

    /// The version that this end speaks of what ends agree on beyond JSON-RPC. Version 1 passes all metadata on. Version 3 has
    /// transfers, and calls that say inside which call they are made. Version 4 has objects by reference. A later version is
    /// welcome: it learns from the answer that this end speaks an earlier one.
    static let newest = 4
    static let withTransfers = 3
    static let withObjects = 4
    static let oldest = 1

    /// The newest version that the sender speaks. Nil means the first one.
    var `protocol`: Int? = newest
    /// How long a call of the sender may take unless the call says otherwise, in milliseconds.
    var timeout: Int64?
    /// Proves the sender's identity, if the receiver asks for one.
    var token: String?
    /// The most bytes that a message to it may have.
    var maximumFrameSize: Int?
    /// How many calls of the receiver it runs at a time, and how many bytes of arguments these may have.
    var maximumRequestsInFlight: Int?
    var maximumBytesInFlight: Int?
    /// How long the sender wants to be silent before it is pinged, in milliseconds; zero for ever.
    var keepaliveInterval: Int64?
    /// How long the sender wants its session to wait when it has lost the connection, in milliseconds.
    var grace: Int64?
    /// The session that the sender wants to go on with.
    var resume: Resumption?

    var spoken: Int { `protocol` ?? Self.oldest }

    /// Throws if there is no such version, or if a time is below zero. With such a timeout no call would ever run, and no caller
    /// would learn why.
    func checked() throws(RPCError) -> Hello {
        guard spoken >= Self.oldest else {
            throw .wrongParameters(of: SystemMethod.hello, "at .protocol: it is below \(Self.oldest)")
        }
        for (name, time) in [("timeout", timeout), ("keepaliveInterval", keepaliveInterval), ("grace", grace)] {
            guard time ?? 0 >= 0 else {
                throw .wrongParameters(of: SystemMethod.hello, "at .\(name): it is below zero")
            }
        }
        return self
    }
}

/// The answer to `rpc.hello`.
struct Welcome: Codable {
    var `protocol` = Hello.newest
    var session: String
    /// As in the hello.
    var maximumFrameSize: Int?
    var maximumRequestsInFlight: Int?
    var maximumBytesInFlight: Int?
    /// How long the session waits for the dialling end to come back, in milliseconds.
    var grace: Int64?
    /// How far the sender has come in the session that goes on. Nil when a new session begins: none was asked for, or the
    /// session is not known any more, or it belongs to another client. The answer must not tell these cases apart.
    var resumed: Progress?
}

/// The parameters of `$/releaseMarshaledObject`.
struct ForeignRelease: Decodable {
    var handle: Int64
    /// Whether it takes its own object away.
    var ownedBySender: Bool
}

/// How far one end has come with what the other sends in their session.
struct Progress: Codable {
    /// The highest number of a call or post that has come.
    var requests: Int64
    /// How many answers have come.
    var replies: Int64
    /// How many transfers have come; nil between ends of which one knows none.
    var transfers: Int64?

    init(_ half: borrowing AnswererHalf) {
        (requests, replies) = (half.receipts.requests, half.receipts.replies)
        transfers = half.hasTransfers ? half.receipts.transfers : nil
    }
}

/// The longest parameters that are decoded; none of these messages needs more. Longer ones would take long to look through.
private let mostBytes = 16 << 10

extension Decodable {
    init(json: Bytes) throws {
        guard json.count <= mostBytes else { throw TooManyBytes() }
        self = try json.withUnsafeBytes { try decodeJSON(Self.self, from: $0) }
    }

    /// Decodes the parameters of a message of that method. No parameters mean the same as `{}`.
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
