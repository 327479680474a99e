// The error of a reply as it is on the wire, and the codes that errors have.

internal import JSONCodec

package struct ErrorObject: Sendable {
    package var code: Int
    package var message: String
    /// JSON text.
    package var data: Bytes?
    /// The limit that was exceeded, for the counters. Not part of the message.
    package var limit: Limit?

    package init(code: Int, message: String, data: Bytes? = nil) {
        self.code = code
        self.message = message
        self.data = data
    }
}

extension ErrorObject {
    /// The error for a peer whose bytes cannot be cut into frames. It is sent under the id null.
    package init(_ error: FramingError) {
        let isTooLarge = if case .frameTooLarge = error { true } else { false }
        self.init(code: isTooLarge ? ErrorCode.requestTooLarge : ErrorCode.parseError, message: "\(error)")
    }

    /// Marked, so that the other end can tell it from an error that an object threw. Only this one means that the connection
    /// takes no more calls, and that the call may go elsewhere.
    package static let draining = ErrorObject(
        code: ErrorCode.unavailable, message: "the server is stopping", data: Bytes(drainMark))

    private static let drainMark = "{\"draining\":true}"

    package var isDraining: Bool { code == ErrorCode.unavailable && data?.description == Self.drainMark }

    /// Reads the error of a reply that is valid JSON. Nil if the code is no whole number or missing, or if there is no message.
    init?(in text: Bytes) {
        var code: Int64?
        var message: String?
        var data: Bytes?
        let isRead = text.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            // The depth was checked when the reply was read.
            reader.limitDepth(to: JSONReader.deepestLimit + 2)
            do throws(JSONError) {
                try reader.enterObject()
                while let key = try reader.nextMember() {
                    let kind = try reader.peek()
                    if key.matches("code"), kind == .number, let number = try reader.readInt64() {
                        code = number
                    } else if key.matches("message"), kind == .string {
                        message = try reader.readString()
                    } else {
                        let range = try reader.skipValue()
                        if key.matches("data") { data = kind == .null ? nil : text[range] }
                    }
                }
                return true
            } catch {
                return false
            }
        }
        guard isRead, let code = code.flatMap(Int.init(exactly:)), let message else { return nil }
        self.init(code: code, message: message, data: data)
    }
}

/// All error codes that this library sends. `RPCError.Code` names those that a caller may get.
package enum ErrorCode {
    // JSON-RPC 2.0, section 5.1.
    package static let parseError = -32700
    package static let invalidRequest = -32600
    package static let methodNotFound = -32601
    package static let invalidParams = -32602
    package static let internalError = -32603

    // From the language server protocol.
    package static let cancelled = -32800

    // As the library jsonrpsee numbers its limits.
    package static let requestTooLarge = -32007
    package static let responseTooLarge = -32008
    package static let busy = -32009
    package static let batchTooLarge = -32010
    package static let batchReplyTooLarge = -32011

    // This library's own, in the range that the specification reserves for servers.
    package static let unavailable = -32050
    package static let connectionLost = -32051
    package static let deadlineExceeded = -32052
    package static let closed = -32053
    package static let denied = -32054
    package static let unauthenticated = -32055
    package static let noSuchObject = -32001
    package static let invalidAddress = -32057
    package static let invalidReply = -32058
    package static let holdEnded = -32060
}
