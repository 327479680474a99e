// The error of a reply, as it stands on the wire.

package struct ErrorObject: Sendable {
    package var code: ErrorCode
    package var message: String
    /// JSON text.
    package var data: Bytes?

    package init(_ code: ErrorCode, _ message: String, data: Bytes? = nil) {
        self.code = code
        self.message = message
        self.data = data
    }
}
