// The id of a request, as its sender wrote it. The answer must carry it unchanged, so type and spelling are kept: 0, "0", 1.0,
// 2^53 + 1, UUIDs and null all differ.

package import JSONCodec

package enum RPCIdentifier: Sendable {
    case null
    case integer(Int64)
    /// Any other number, as it was written.
    case number(String)
    case string(String)

    /// How many bytes a text may have. Finding a call compares ids, so long ones would cost time.
    package static let longest = 1_024
}

extension RPCIdentifier: Equatable {
    /// Compares texts byte by byte: two strings may be equal in Swift and spelled differently.
    package static func == (one: RPCIdentifier, other: RPCIdentifier) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.integer(let one), .integer(let other)): one == other
        case (.number(let one), .number(let other)), (.string(let one), .string(let other)):
            one.utf8.count == other.utf8.count && Self.haveEqualBytes(one, other)
        default: false
        }
    }
}

extension RPCIdentifier {
    /// Eight bytes at a time: a cancellation is compared with all calls that run.
    private static func haveEqualBytes(_ one: String, _ other: String) -> Bool {
        var (one, other) = (one, other)
        return one.withUTF8 { one in
            other.withUTF8 { other in
                guard let first = one.baseAddress, let second = other.baseAddress else { return true }
                return equalBytes(first, second, one.count)
            }
        }
    }

    /// The id of every ping between ends that run this library. Calls have positive numbers.
    package static let ofPing: Int64 = -1

    /// How many bytes of memory the id has besides the message: the length of a text that the sender has chosen.
    @inline(__always)
    var textCount: Int {
        switch self {
        case .null, .integer: 0
        case .number(let text), .string(let text): text.utf8.count
        }
    }

    /// Reads an id.
    /// - Parameter text: one JSON value that has been checked.
    /// - Returns: nil for a value of another type, or for a text that is too long.
    init?(_ text: UnsafeRawBufferPointer) {
        // A byte of the text takes at most six bytes in JSON.
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
