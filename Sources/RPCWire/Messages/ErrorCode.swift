// Every error number that this library sends, in one table. `RPCError.Code` gives the ones a user meets a name there.

package struct ErrorCode: Sendable, Hashable {
    package let number: Int

    package init(_ number: Int) { self.number = number }

    // JSON-RPC 2.0, section 5.1.
    package static let parseError = ErrorCode(-32700)
    package static let invalidRequest = ErrorCode(-32600)
    package static let methodNotFound = ErrorCode(-32601)
    package static let invalidParams = ErrorCode(-32602)
    package static let internalError = ErrorCode(-32603)

    // The language server protocol's.
    package static let cancelled = ErrorCode(-32800)

    // As jsonrpsee numbers its limits.
    package static let requestTooLarge = ErrorCode(-32007)
    package static let responseTooLarge = ErrorCode(-32008)
    package static let busy = ErrorCode(-32009)
    package static let batchTooLarge = ErrorCode(-32010)
    package static let batchReplyTooLarge = ErrorCode(-32011)

    // Our own, in the range that the specification leaves to servers.
    package static let unavailable = ErrorCode(-32050)
    package static let connectionLost = ErrorCode(-32051)
    package static let deadlineExceeded = ErrorCode(-32052)
    package static let closed = ErrorCode(-32053)
    package static let denied = ErrorCode(-32054)
    package static let unauthenticated = ErrorCode(-32055)
    package static let subjectGone = ErrorCode(-32056)
    package static let invalidAddress = ErrorCode(-32057)
    package static let invalidReply = ErrorCode(-32058)
}
