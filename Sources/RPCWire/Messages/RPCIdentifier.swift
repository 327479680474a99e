// The id of a request as its sender wrote it. Type and spelling are kept, so that 0, "0", 2^53 + 1, 1.0, UUIDs and null alike
// go back exactly as they came.

package import JSONCodec

package enum RPCIdentifier: Sendable {
    case null
    case integer(Int64)
    /// Any other number, as written.
    case number(String)
    case string(String)

    /// The most bytes that a text may have. Calls are looked for by their ids, so that long ones would cost time.
    package static let longest = 1_024
}

extension RPCIdentifier: Equatable {
    /// Byte for byte: two strings may be equal and not be spelled alike.
    package static func == (one: RPCIdentifier, other: RPCIdentifier) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.integer(let one), .integer(let other)): one == other
        case (.number(let one), .number(let other)), (.string(let one), .string(let other)):
            one.utf8.count == other.utf8.count && one.utf8.elementsEqual(other.utf8)
        default: false
        }
    }
}

extension RPCIdentifier {
    /// The id that every ping between ends of our own kind has. Calls have positive numbers.
    package static let ofPing: Int64 = -1

    /// How many bytes it has beside the message, as a text that its sender has chosen.
    @inline(__always)
    var textCount: Int {
        switch self {
        case .null, .integer: 0
        case .number(let text), .string(let text): text.utf8.count
        }
    }

    /// - Parameter text: of a JSON value that has been checked.
    /// - Returns: nil for a value of a type or a length that an id may not have.
    init?(_ text: UnsafeRawBufferPointer) {
        // A byte takes six characters at most.
        guard text.count <= 2 + 6 * Self.longest else { return nil }
        var reader = JSONReader(text)
        switch try? reader.peek() {
        case .number:
            self = (try? reader.readInt64()).map { .integer($0) } ?? .number(String(decoding: text, as: UTF8.self))
        case .string: self = .string((try? reader.readString()) ?? "")
        case .null: self = .null
        default: return nil
        }
        if textCount > Self.longest { return nil }
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
