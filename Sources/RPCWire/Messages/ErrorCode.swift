// Every error number that this library sends, in one table. `RPCError.Code` names the ones that a caller may meet.

package enum ErrorCode {
    // JSON-RPC 2.0, section 5.1.
    package static let parseError = -32700
    package static let invalidRequest = -32600
    package static let methodNotFound = -32601
    package static let invalidParams = -32602
    package static let internalError = -32603

    // The language server protocol's.
    package static let cancelled = -32800

    // As jsonrpsee numbers its limits.
    package static let requestTooLarge = -32007
    package static let responseTooLarge = -32008
    package static let busy = -32009
    package static let batchTooLarge = -32010
    package static let batchReplyTooLarge = -32011

    // Our own, in the range that the specification leaves to servers.
    package static let unavailable = -32050
    package static let connectionLost = -32051
    package static let deadlineExceeded = -32052
    package static let closed = -32053
    package static let denied = -32054
    package static let unauthenticated = -32055
    package static let subjectGone = -32056
    package static let invalidAddress = -32057
    package static let invalidReply = -32058
    package static let holdEnded = -32060
}
