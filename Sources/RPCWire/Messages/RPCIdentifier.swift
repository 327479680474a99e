// The id of a call as its sender wrote it. Kept apart by type and spelling, so that 0, "0", 2^53 + 1, 1.0, UUIDs and
// null alike go back exactly as they came.

package import JSONCodec

package enum RPCIdentifier: Hashable, Sendable {
    case null
    case integer(Int64)
    /// Any other number, as written.
    case number(String)
    case string(String)
}

extension RPCIdentifier {
    /// Whether it is the one that every ping between ends of our own kind has: calls have positive numbers.
    package var isOfPing: Bool { if case .integer(-1) = self { true } else { false } }

    /// How many bytes it has beside the message, as a text that its sender has chosen.
    @inline(__always)
    var textCount: Int {
        switch self {
        case .null, .integer: 0
        case .number(let text), .string(let text): text.utf8.count
        }
    }

    /// Reads the value at the cursor, which stands in `text`; nil when it has a type that an id may not have.
    @inline(__always)
    init?(_ reader: inout JSONReader, in text: UnsafeRawBufferPointer) throws(JSONError) {
        switch try reader.peek() {
        case .number:
            if let integer = try reader.readInt64() {
                self = .integer(integer)
            } else {
                self = .number(String(decoding: text[try reader.skipValue()], as: UTF8.self))
            }
        case .string: self = .string(try reader.readString())
        case .null:
            _ = try reader.skipValue()
            self = .null
        default:
            _ = try reader.skipValue()
            return nil
        }
    }

    package func append(to output: JSONOutput) {
        switch self {
        case .null: output.append("null")
        case .integer(let number): output.append(number)
        case .number(let text): output.append(raw: text)
        case .string(let text): output.append(quoted: text)
        }
    }
}
