// One connection of a scripted server: reads what a client of ours sends, and says anything at all.

import RPCWire

/// What a client asked for.
package struct Asked: Sendable, Hashable {
    package let text: String
    /// As it stands there; nil for a notification.
    package let id: String?
    package let method: String

    init(_ text: String) {
        self.text = text
        // What is long is so in the middle, and a search through all of it would keep others from their time.
        let ends = text.utf8.count > 4_096 ? String(text.prefix(1_024)) + String(text.suffix(1_024)) : text
        method = Self.member("\"method\":", of: ends).map { String($0.dropFirst().dropLast()) } ?? ""
        // A cancellation has the id of another message among its parameters.
        id = method.hasPrefix("$/") ? nil : Self.member("\"id\":", of: ends)
    }

    /// The parameters as they stand there, for methods that take one text.
    package var argument: String {
        guard let open = text.firstIndex(of: "["), let close = text.lastIndex(of: "]") else { return "null" }
        return String(text[text.index(after: open)..<close])
    }

    /// Enough for what our own client writes, which has its members in one order and no blanks.
    private static func member(_ name: String, of text: String) -> String? {
        var rest = text[...]
        while let start = rest.indices.first(where: { rest[$0...].hasPrefix(name) }) {
            rest = rest[start...].dropFirst(name.count)
            let value = rest.prefix { $0 != "," && $0 != "}" }
            if !value.isEmpty { return String(value) }
        }
        return nil
    }
}

/// `@unchecked Sendable`: `received` belongs to the thread that runs the script.
package final class ScriptedPeer: @unchecked Sendable {
    package let connection: RawDescriptor
    private var received: [UInt8] = []

    init(_ connection: RawDescriptor) { self.connection = connection }

    package struct Gone: Error {}

    /// The next message, of a length-prefixed stream.
    package func hear() throws -> Asked {
        try fill(to: 4)
        let length = received.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        try fill(to: 4 + length)
        defer { received.removeFirst(4 + length) }
        return Asked(String(decoding: received[4..<4 + length], as: UTF8.self))
    }

    /// The next message of a stream of texts, up to these characters and with them.
    package func hearText(_ end: String) throws -> Asked {
        while true {
            // What is not ASCII, such as the length before a hello, is one character too.
            let text = String(decoding: received.map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
            if let found = text.ranges(of: end).first(where: { end != "}" || $0.upperBound == text.endIndex }) {
                let message = text[..<found.upperBound]
                received.removeFirst(message.utf8.count)
                return Asked(String(message))
            }
            try fill(to: received.count + 1)
        }
    }

    package func sayText(_ text: String) throws { try send(Array(text.utf8)) }

    private func fill(to count: Int) throws {
        while received.count < count {
            guard case .bytes(let bytes) = connection.receive() else { throw Gone() }
            received += bytes
        }
    }

    package func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let count = connection.send(rest) else { throw Gone() }
            rest = rest.dropFirst(count)
        }
    }

    package func say(_ message: String) throws { try send(Self.frame(message)) }

    package static func frame(_ message: String) -> [UInt8] {
        withUnsafeBytes(of: UInt32(message.utf8.count).bigEndian, Array.init) + Array(message.utf8)
    }

    /// Hears the hello and answers it as a server of ours does.
    package func welcome() throws {
        let hello = try hear()
        try answer(hello, #"{"protocol":1,"session":"scripted"}"#)
    }

    package func answer(_ asked: Asked, _ result: String) throws {
        guard let id = asked.id else { return }
        try say(Self.reply(id, result))
    }

    package static func reply(_ id: String, _ result: String) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"result":\#(result)}"#
    }

    package static func failure(_ id: String, _ error: String) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"error":\#(error)}"#
    }

    /// Says nothing more, and does not go either, until the client does.
    package func fallSilent() throws { while true { _ = try hear() } }
}
