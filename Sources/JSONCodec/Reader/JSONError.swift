// Says why a text is not JSON, and at which byte. Only the reader throws it. The decoder wraps it into a DecodingError, so that
// callers can distinguish malformed text from text that does not fit the type.

package struct JSONError: Error, Equatable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        case unexpectedEnd
        case unexpectedByte(UInt8, expected: Expectation)
        case trailingBytes
        case tooDeep(limit: Int)
        case controlCharacterInString(UInt8)
        case invalidEscape
        case loneSurrogate
        case invalidUTF8
        case malformedNumber
        case numberTooLong(limit: Int)
    }

    package enum Expectation: String, Sendable {
        case value = "a value"
        case string = "a string"
        case number = "a number"
        case array = "an array"
        case object = "an object"
        case memberName = "a member name"
        case colon = "a colon"
        case commaOrBracket = "a comma or ]"
        case commaOrBrace = "a comma or }"
    }

    /// Bytes before the place where the text stops being JSON.
    package let offset: Int
    package let reason: Reason

    package init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }

    package var description: String { "\(reason.text) at byte \(offset)" }
}

extension JSONError.Reason {
    fileprivate var text: String {
        switch self {
        case .unexpectedEnd: "the text ends inside a value"
        case .unexpectedByte(let byte, let expected): "\(Self.shown(byte)) where \(expected.rawValue) was expected"
        case .trailingBytes: "more text after the value"
        case .tooDeep(let limit): "nested deeper than \(limit) levels"
        case .controlCharacterInString(let byte): "unescaped control character \(Self.shown(byte)) in a string"
        case .invalidEscape: "invalid escape sequence in a string"
        case .loneSurrogate: "half of a surrogate pair in a string"
        case .invalidUTF8: "bytes that are not UTF-8 in a string"
        case .malformedNumber: "malformed number"
        case .numberTooLong(let limit): "a number longer than \(limit) characters"
        }
    }

    private static func shown(_ byte: UInt8) -> String {
        if byte > 0x20 && byte < 0x7F { return "'\(Character(UnicodeScalar(byte)))'" }
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count == 1 ? "0x0\(digits)" : "0x\(digits)"
    }
}
