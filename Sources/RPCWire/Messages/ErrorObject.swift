// The error of a reply, as it stands on the wire.

internal import JSONCodec

package struct ErrorObject: Sendable {
    package var code: Int
    package var message: String
    /// JSON text.
    package var data: Bytes?
    /// What has been run into, for counting; not part of the message.
    package var limit: Limit?

    package init(code: Int, message: String, data: Bytes? = nil) {
        self.code = code
        self.message = message
        self.data = data
    }
}

extension ErrorObject {
    /// What a peer is told, under the id null, whose bytes cannot be cut into frames.
    package init(_ error: FramingError) {
        let isTooLarge = if case .frameTooLarge = error { true } else { false }
        self.init(code: isTooLarge ? ErrorCode.requestTooLarge : ErrorCode.parseError, message: "\(error)")
    }

    /// Reads the error of a reply, which is valid JSON; nil when it has no whole code or no message.
    init?(in text: Bytes) {
        var code: Int64?
        var message: String?
        var data: Bytes?
        let isRead = text.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            // How deep it is was checked when the reply was read.
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
