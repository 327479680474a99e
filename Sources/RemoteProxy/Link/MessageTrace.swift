// What two ends say to each other, as lines for people. Secrets are left out.

import JSONCodec
import RPCSockets
import RPCWire

enum MessageTrace {
    /// How many bytes of a message are shown.
    static let longest = 1_024

    /// The record for one message.
    /// - Parameters:
    ///   - isSent: whether this end has sent it.
    ///   - isLocked: whether the message is from a peer that has still to log in. Then only its method and number are shown.
    static func record(
        _ message: UnsafeRawBufferPointer, isSent: Bool, isLocked: Bool, peer: String
    ) -> LogRecord {
        let text = text(of: message, isLocked: isLocked)
        return LogRecord(.debug, "\(isSent ? "to" : "from") \(peer): \(text)", peer: peer)
    }

    /// The message in one line, cut, and without its secrets. What is not JSON is not shown, since nothing in it can be told
    /// from a secret.
    static func text(of message: UnsafeRawBufferPointer, isLocked: Bool) -> String {
        // The line feed behind a hello.
        let message =
            message.last == UInt8(ascii: "\n") ? UnsafeRawBufferPointer(rebasing: message.dropLast()) : message
        guard let secrets = Secrets.find(in: message, isLocked: isLocked) else {
            return "\(message.count) bytes that are not JSON"
        }
        var shown: [UInt8] = []
        var start = 0
        for secret in secrets + [message.count..<message.count] {
            // One more than is shown, so that a cut is noticed.
            shown += message[start..<secret.lowerBound].prefix(max(0, longest + 1 - shown.count))
            guard shown.count <= longest, !secret.isEmpty else { break }
            shown += #""…""#.utf8
            start = secret.upperBound
        }
        guard shown.count > longest else { return String(decoding: shown, as: UTF8.self).onOneLine }
        return "\(String(decoding: shown.prefix(longest), as: UTF8.self).onOneLine)… (\(message.count) bytes)"
    }
}

/// Finds the secrets in a message: all parameters of the messages that show a token, and the members `token` and `session` of
/// every object, and those that begin with `#` as secret metadata does; of a peer that has still to log in, all but the names and numbers of its messages.
private struct Secrets {
    /// A value that is nested deeper counts as a secret.
    private static let deepest = 16

    private let isLocked: Bool
    private var reader: JSONReader
    private var found: [Range<Int>] = []

    /// Where the secrets are, in order; nil if the text is not JSON.
    static func find(in text: UnsafeRawBufferPointer, isLocked: Bool) -> [Range<Int>]? {
        var reader = JSONReader(text)
        reader.limitDepth(to: JSONReader.deepestLimit)
        var secrets = Secrets(reader: reader, isLocked: isLocked)
        do throws(JSONError) {
            if try secrets.reader.peek() == .array {
                try secrets.reader.enterArray()
                while try secrets.reader.nextElement() { try secrets.passMessage() }
            } else {
                try secrets.passMessage()
            }
            try secrets.reader.finish()
            return secrets.found
        } catch {
            return nil
        }
    }

    private init(reader: JSONReader, isLocked: Bool) {
        self.reader = reader
        self.isLocked = isLocked
    }

    private mutating func passMessage() throws(JSONError) {
        guard isLocked else { return try passValue(levels: Self.deepest, hidesParams: Self.showsToken(reader)) }
        // A login may be written wrongly, so everything but its name and number is left out.
        guard try reader.peek() == .object else { return found.append(try reader.skipValue()) }
        try reader.enterObject()
        while let key = try reader.nextMember() {
            let kind = try reader.peek()
            let value = try reader.skipValue()
            let isPlain = kind == .string || kind == .number
            if !isPlain || !key.matches("jsonrpc") && !key.matches("method") && !key.matches("id") {
                found.append(value)
            }
        }
    }

    /// Whether the message at the cursor is one of those that show a token.
    private static func showsToken(_ reader: JSONReader) throws(JSONError) -> Bool {
        var reader = reader
        guard try reader.peek() == .object else { return false }
        try reader.enterObject()
        var shows = false
        while let key = try reader.nextMember() {
            guard key.matches("method"), try reader.peek() == .string else {
                _ = try reader.skipValue()
                continue
            }
            let method = try reader.readString().utf8
            shows =
                method.elementsEqual(SystemMethod.hello.utf8) || method.elementsEqual(SystemMethod.authenticate.utf8)
        }
        return shows
    }

    private mutating func passValue(levels: Int, hidesParams: Bool = false) throws(JSONError) {
        switch try reader.peek() {
        case .object where levels > 0:
            try reader.enterObject()
            while let key = try reader.nextMember() {
                if key.first == UInt8(ascii: "#") || key.matches("token") || key.matches("session")
                    || hidesParams && key.matches("params")
                {
                    found.append(try reader.skipValue())
                } else {
                    try passValue(levels: levels - 1)
                }
            }
        case .array where levels > 0:
            try reader.enterArray()
            while try reader.nextElement() { try passValue(levels: levels - 1) }
        case .object, .array: found.append(try reader.skipValue())
        default: _ = try reader.skipValue()
        }
    }
}
