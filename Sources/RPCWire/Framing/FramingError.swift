// The reasons why the bytes of a connection cannot be cut into frames any more.

/// Thrown by a framer. After any of these errors the start of the next frame is unknown, so nothing can be skipped. The peer is
/// told the reason, and the connection is closed.
package enum FramingError: Error, Sendable, Hashable {
    /// The peer is an HTTP client, perhaps a browser that a web page has sent here.
    case http
    /// No framing begins with the first byte.
    case unrecognised(UInt8)
    /// - Parameter length: the length that the peer declared; nil for a line, which declares none.
    case frameTooLarge(length: Int?, limit: Int)
    case headerBlockTooLarge(limit: Int)
    case tooManyHeaderLines(limit: Int)
    case header(HeaderFault)
    /// The connection has ended inside a frame.
    case cutOff
    /// The bytes are not sealed, and only TLS is taken.
    case plaintext

    /// What is wrong with a header block.
    package enum HeaderFault: String, Sendable, Hashable {
        case noColon = "a header line has no colon"
        case name = "a header name is not a token"
        case unknownField = "only Content-Length and Content-Type are known as headers"
        case controlCharacter = "a header value holds a control character"
        case noCarriageReturn = "a header line does not end with CR LF"
        case noContentLength = "the header block has no Content-Length"
        case repeatedContentLength = "the header block has more than one Content-Length"
        case contentLength = "Content-Length is not a number of one to ten digits"
    }
}

extension FramingError {
    /// The limit that the peer exceeded; nil if the error has another cause.
    package var limit: Limit? {
        switch self {
        case .frameTooLarge: .maximumFrameSize
        case .headerBlockTooLarge: .maximumHeaderBlock
        case .tooManyHeaderLines: .maximumHeaderLines
        case .http, .unrecognised, .header, .cutOff, .plaintext: nil
        }
    }

    /// The bytes to send instead of a JSON-RPC error, for a peer that does not read JSON-RPC; nil for all others.
    package var plainAnswer: [UInt8]? {
        self == .http ? Array(Self.httpRefusal.utf8) : nil
    }

    /// Sent as a line; the declared length includes its line feed. It has no cross-origin header, so that a web page cannot
    /// even learn which service listens here.
    private static let httpRefusal = """
        HTTP/1.1 400 Bad Request\r
        Connection: close\r
        Content-Type: text/plain\r
        Content-Length: 41\r
        \r
        This port speaks JSON-RPC 2.0, not HTTP.
        """
}

extension FramingError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .http: "this port speaks JSON-RPC 2.0, not HTTP"
        case .unrecognised(0x16): "this port does not speak TLS"
        case .unrecognised(let byte) where (0x01...0x08).contains(byte):
            "the first byte, 0x\(hexadecimal(byte)), begins no known framing; a length-prefixed connection whose first message "
                + "has 16 MiB or more begins with an empty frame, 0x00000000"
        case .unrecognised(let byte): "the first byte, 0x\(hexadecimal(byte)), begins no known framing"
        case .frameTooLarge(let length?, let limit):
            "a message of \(length) bytes is over the limit of \(limit) (maximumFrameSize)"
        case .frameTooLarge(nil, let limit): "a line is over the limit of \(limit) bytes (maximumFrameSize)"
        case .headerBlockTooLarge(let limit):
            "a header block is over the limit of \(limit) bytes (maximumHeaderBlock)"
        case .tooManyHeaderLines(let limit):
            "a header block is over the limit of \(limit) lines (maximumHeaderLines)"
        case .header(let fault): fault.rawValue
        case .cutOff: "the connection ended inside a message"
        case .plaintext: "this port takes only TLS: its address is tls://host:port"
        }
    }
}

private func hexadecimal(_ byte: UInt8) -> String {
    (byte < 0x10 ? "0" : "") + String(byte, radix: 16, uppercase: true)
}
