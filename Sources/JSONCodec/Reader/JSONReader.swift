// Walks over bytes that claim to be JSON, value by value, and throws at anything that RFC 8259 does not allow. Message readers
// get ranges, keys, strings and integers from it; the decoder reads whole values with it.

/// What kind of value stands at the cursor.
package enum JSONKind: Sendable {
    case object, array, string, number, `true`, `false`, null

    /// The name in error messages.
    var name: String {
        switch self {
        case .object: "a dictionary"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .true, .false: "a bool"
        case .null: "null"
        }
    }
}

/// A cursor over one JSON text. It does not own the memory, and is valid as long as the bytes are.
///
/// After an error the cursor's place is undefined: do not read on.
package struct JSONReader {
    /// Limits above this are lowered to it, because a Codable type decodes each level inside the one around it, on the stack.
    package static let deepestLimit = 1024
    package static let longestNumber = 1024

    let base: UnsafePointer<UInt8>
    let count: Int
    /// How many containers may be open around the cursor.
    package var maximumDepth: Int
    package internal(set) var position = 0
    /// How many containers are open around the cursor.
    var depth = 0
    /// Whether the cursor is right behind the opening bracket of the innermost container.
    var isFirst = false
    /// Whether half a surrogate pair in a string is allowed. Such a string must not be unescaped.
    var passesLoneSurrogates = false
    /// Whether the text is known to be UTF-8, since it has been read before.
    package var isKnownUTF8 = false

    package init(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int = 512) {
        // An empty text has no address. This stand-in is never read.
        let start = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
        base = start.assumingMemoryBound(to: UInt8.self)
        count = bytes.count
        self.maximumDepth = min(maximumDepth, Self.deepestLimit)
    }

    /// Begins inside a text: at this offset, with this many containers open around it.
    package init(_ bytes: UnsafeRawBufferPointer, at offset: Int, depth: Int) {
        self.init(bytes)
        position = offset
        self.depth = depth
    }

    /// Begins behind the bracket with which a text opens an array; nil for any other text.
    package init?(insideArray bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first, first == UInt8(ascii: "[") else { return nil }
        self.init(bytes, at: 1, depth: 1)
        limitDepth(to: Self.deepestLimit)
        isFirst = true
    }

    /// Allows this many levels inside the containers that are open now, which do not count. The most is `deepestLimit`, plus the
    /// few levels that this library writes around a value.
    package mutating func limitDepth(to levels: Int) { maximumDepth = depth &+ levels }

    /// Returns the kind of the next value. Skips white space only.
    @inline(__always)
    package mutating func peek() throws(JSONError) -> JSONKind {
        switch try nextByte() {
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): return .number
        case UInt8(ascii: "t"): return .true
        case UInt8(ascii: "f"): return .false
        case UInt8(ascii: "n"): return .null
        default: throw unexpected(.value)
        }
    }

    // MARK: Containers

    package mutating func enterArray() throws(JSONError) {
        guard try nextByte() == UInt8(ascii: "[") else { throw unexpected(.array) }
        try enter()
    }

    /// Moves to the next element and returns true. Behind the last one it moves behind the closing bracket and returns false.
    package mutating func nextElement() throws(JSONError) -> Bool {
        let byte = try nextByte()
        if byte == UInt8(ascii: "]") {
            leave()
            return false
        }
        if isFirst {
            isFirst = false
        } else {
            guard byte == UInt8(ascii: ",") else { throw unexpected(.commaOrBracket) }
            position &+= 1
        }
        return true
    }

    package mutating func enterObject() throws(JSONError) {
        guard try nextByte() == UInt8(ascii: "{") else { throw unexpected(.object) }
        try enter()
    }

    /// Moves to the value of the next member. Behind the last one it moves behind the closing brace and returns nil.
    package mutating func nextMember() throws(JSONError) -> JSONKey? {
        var byte = try nextByte()
        if byte == UInt8(ascii: "}") {
            leave()
            return nil
        }
        if isFirst {
            isFirst = false
        } else {
            guard byte == UInt8(ascii: ",") else { throw unexpected(.commaOrBrace) }
            position &+= 1
            byte = try nextByte()
        }
        guard byte == UInt8(ascii: "\"") else { throw unexpected(.memberName) }
        let name = try scanString()
        guard try nextByte() == UInt8(ascii: ":") else { throw unexpected(.colon) }
        position &+= 1
        return JSONKey(base: base, text: name)
    }

    private mutating func enter() throws(JSONError) {
        guard depth < maximumDepth else { throw failure(.tooDeep(limit: maximumDepth)) }
        depth &+= 1
        position &+= 1
        isFirst = true
    }

    private mutating func leave() {
        depth &-= 1
        position &+= 1
        isFirst = false
    }

    // MARK: Values

    package mutating func readString() throws(JSONError) -> String {
        guard try nextByte() == UInt8(ascii: "\"") else { throw unexpected(.string) }
        return try scanString().string(in: base)
    }

    /// The number at the cursor, if it is spelled as an integer that fits an `Int64`. A fraction, an exponent, `-0` or a greater
    /// number gives nil and does not move the cursor: an echoed number must keep its spelling.
    package mutating func readInt64() throws(JSONError) -> Int64? {
        guard try isAtNumber() else { throw unexpected(.number) }
        let start = position
        if let integer = plainInteger(), integer != 0 || base[start] != UInt8(ascii: "-") { return integer }
        position = start
        let number = try scanNumber()
        guard number.isInteger, !(number.isNegative && number.significand == 0),
            let integer = number.integer(as: Int64.self, in: base)
        else {
            position = start
            return nil
        }
        return integer
    }

    /// Moves to the next element of an array and reads it, if it is an integer of at most eighteen digits and nothing stands
    /// before it. Returns nil, with the cursor unmoved, for anything else.
    package mutating func nextPlainInteger() -> Int? {
        let start = isFirst ? position : position &+ 1
        guard start < count, isFirst || base[position] == UInt8(ascii: ","),
            let (value, end) = JSONNumber.plainInteger(base, at: start, of: count)
        else { return nil }
        (position, isFirst) = (end, false)
        return Int(value)
    }

    /// Whether the next value is a number. The cursor is then at it.
    @inline(__always)
    mutating func isAtNumber() throws(JSONError) -> Bool {
        let byte = try nextByte()
        return byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "-")
    }

    /// Reads from the first character of a number to behind its last.
    mutating func scanNumber() throws(JSONError) -> JSONNumber {
        let number = try JSONNumber(base, at: position, of: count)
        position = number.end
        return number
    }

    /// Reads an integer of at most eighteen digits. Returns nil, with the cursor unmoved, for any other number.
    @inline(__always)
    mutating func plainInteger() -> Int64? {
        guard let (value, end) = JSONNumber.plainInteger(base, at: position, of: count) else { return nil }
        position = end
        return value
    }

    /// Throws if anything but white space follows the value.
    package mutating func finish() throws(JSONError) {
        skipWhiteSpace()
        guard position >= count else { throw failure(.trailingBytes) }
    }

    // MARK: Bytes

    /// Returns the next byte that is not white space. The cursor is then at it.
    @inline(__always)
    mutating func nextByte() throws(JSONError) -> UInt8 {
        if position < count {
            let byte = base[position]
            if byte > 0x20 { return byte }
        }
        skipWhiteSpace()
        guard position < count else { throw failure(.unexpectedEnd) }
        return base[position]
    }

    mutating func skipWhiteSpace() {
        while position < count {
            switch base[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position &+= 1
            default: return
            }
        }
    }

    @inline(never)
    func failure(_ reason: JSONError.Reason) -> JSONError { JSONError(offset: position, reason: reason) }

    @inline(never)
    func unexpected(_ expected: JSONError.Expectation) -> JSONError {
        guard position < count else { return failure(.unexpectedEnd) }
        return failure(.unexpectedByte(base[position], expected: expected))
    }
}
