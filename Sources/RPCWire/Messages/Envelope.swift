// Reads the members of one message, in any order and any spelling. Decides at the end what kind of message it is, and what is
// wrong with it.

internal import JSONCodec

/// The members of one message. If a member occurs twice, the last value counts.
struct Envelope: ~Copyable {
    /// Where a value is in the text. The first byte of a value tells its kind.
    private typealias Value = Range<Int>

    /// A fault inside a value whose end was found all the same, so that the rest of the message could be read.
    private struct Flaw {
        let error: JSONError
        let isInParams: Bool

        var limit: Limit? { if case .tooDeep = error.reason { .maximumDepth } else { nil } }

        var explanation: String { limit.map { "\(error) (\($0))" } ?? "\(error)" }

        func object(code: Int, _ what: String) -> ErrorObject {
            var object = ErrorObject(code: code, message: "\(what): \(explanation)")
            object.limit = limit
            return object
        }
    }

    private let text: UnsafeRawBufferPointer
    private let maximumDepth: Int
    private var isObject = false
    private var version: Value?
    private var id: Value?
    private var method: Value?
    private var params: Value?
    private var timeout: Value?
    private var number: Value?
    private var inside: Value?
    private var transfer: Value?
    private var metadata: Value?
    private var objects: Value?
    private var result: Value?
    private var error: Value?
    private var flaw: Flaw?

    /// Reads the value at the cursor to its end, even if it cannot be a message.
    /// - Parameters:
    ///   - text: the text of the reader. It must outlive the envelope.
    ///   - maximumDepth: how many levels an argument or a result may have.
    init(_ reader: inout JSONReader, in text: UnsafeRawBufferPointer, maximumDepth: Int) throws(JSONError) {
        self.text = text
        self.maximumDepth = maximumDepth
        guard case .object = try reader.peek() else {
            _ = try reader.skipValue()
            return
        }
        isObject = true
        try reader.enterObject()
        while let key = try reader.nextMember() {
            switch Name(key) {
            case .jsonrpc: version = try reader.skipValue()
            case .method: method = try reader.skipValue()
            case .id: id = try reader.skipValue()
            case .timeout: timeout = try reader.skipValue()
            case .number: number = try reader.skipValue()
            case .inside: inside = try reader.skipValue()
            case .transfer: transfer = try reader.skipValue()
            case .metadata: metadata = try flawedValue(&reader, levels: maximumDepth)
            case .objects: objects = try flawedValue(&reader, levels: maximumDepth)
            // The list of arguments adds one level.
            case .params: params = try flawedValue(&reader, levels: maximumDepth + 1, isInParams: true)
            case .result: result = try flawedValue(&reader, levels: maximumDepth)
            // The error object and its data add two levels around the subject's value.
            case .error: error = try flawedValue(&reader, levels: maximumDepth + 2)
            case nil: _ = try flawedValue(&reader, levels: maximumDepth)
            }
        }
    }

    // MARK: Reading values

    /// Reads a value that may have `levels` levels. A value that is deeper, or has half of a surrogate pair, is noted as the
    /// flaw. The rest of the message is read all the same, so that its sender can be answered under its id.
    private mutating func flawedValue(
        _ reader: inout JSONReader, levels: Int, isInParams: Bool = false
    ) throws(JSONError) -> Value {
        let start = reader
        reader.limitDepth(to: levels)
        defer { reader.maximumDepth = start.maximumDepth }
        do throws(JSONError) {
            return try reader.skipValue()
        } catch {
            let found: JSONError
            switch error.reason {
            // Report the limit as it was set, without the levels around an argument or a result.
            case .tooDeep: found = JSONError(offset: error.offset, reason: .tooDeep(limit: maximumDepth))
            case .loneSurrogate: found = error
            default: throw error
            }
            flaw = Flaw(error: found, isInParams: isInParams)
            reader = start
            do throws(JSONError) { return try reader.skipFlawedValue() } catch { throw found }
        }
    }

    // MARK: What the values say

    private func bytes(_ value: Value) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: text[value]) }

    private func isString(_ value: Value) -> Bool { text[value.lowerBound] == UInt8(ascii: "\"") }

    private func isNull(_ value: Value) -> Bool { text[value.lowerBound] == UInt8(ascii: "n") }

    private func string(_ value: Value) -> String? {
        var reader = JSONReader(bytes(value))
        return try? reader.readString()
    }

    private var isVersionTwo: Bool {
        guard let version, isString(version) else { return false }
        let text = bytes(version)
        if text.count == 5 { return text[1] == 0x32 && text[2] == 0x2E && text[3] == 0x30 }
        // It has escapes, which take at most six bytes for each character.
        return text.count <= 2 + 3 * 6 && string(version) == "2.0"
    }

    /// Null counts as missing: some writers list all members that they know, with null for those that do not apply.
    private var hasMethod: Bool { if let method { !isNull(method) } else { false } }

    private var identifier: RPCIdentifier? { id.flatMap { RPCIdentifier(bytes($0)) } }

    /// Nil if the value is not a whole number. The member is not part of JSON-RPC and may have another meaning there.
    private func wholeNumber(_ value: Value?) -> Int64? {
        guard let value else { return nil }
        var reader = JSONReader(bytes(value))
        guard let number = try? reader.readInt64(), number >= 0 else { return nil }
        return number
    }

    /// Of several marks the first in this order counts; no end of this library writes more than one.
    private var mark: RequestMark {
        if let number = wholeNumber(transfer) { return .transfer(number) }
        if let number = wholeNumber(number) { return .post(number) }
        return wholeNumber(inside).map { .inside($0) } ?? .none
    }

    /// The handles in the list of objects; empty if there is none. Also empty if it is anything else than a list of so many whole
    /// numbers: the member is not part of JSON-RPC and may have another meaning there.
    private var namedObjects: [Int64] {
        guard let objects else { return [] }
        var reader = JSONReader(bytes(objects))
        var handles: [Int64] = []
        do throws(JSONError) {
            guard case .array = try reader.peek() else { return [] }
            try reader.enterArray()
            while try reader.nextElement() {
                guard handles.count < Message.mostNamed, case .number = try reader.peek(),
                    let handle = try reader.readInt64(), handle != 0, handle != .min
                else { return [] }
                handles.append(handle)
            }
            return handles
        } catch {
            return []
        }
    }

    /// Where the parameters are. Empty if there are none; nil for a value that cannot be parameters.
    private var arguments: Range<Int>? {
        guard let params, !isNull(params) else { return 0..<0 }
        let first = text[params.lowerBound]
        guard first == UInt8(ascii: "[") || first == UInt8(ascii: "{") else { return nil }
        let inside = bytes(params.lowerBound + 1..<params.upperBound - 1)
        return leadingBlanks(in: inside) == inside.count ? 0..<0 : params
    }

    // MARK: The message

    /// Classifies the message.
    /// - Parameter frame: the frame whose text was read.
    consuming func message(in frame: Bytes) -> Message {
        let objects = namedObjects
        let message = messageWithoutObjects(in: frame)
        switch message {
        case .request, .unreadable, .result: return objects.isEmpty ? message : .naming(message, objects: objects)
        default: return message
        }
    }

    private consuming func messageWithoutObjects(in frame: Bytes) -> Message {
        if !hasMethod, result != nil || error != nil { return reply(in: frame) }
        guard isObject else { return invalid("it must be an object") }
        guard isVersionTwo else { return invalid("jsonrpc must be \"2.0\"") }
        guard let method, isString(method) else { return invalid("method must be a string") }
        let identifier = identifier
        if id != nil, identifier == nil {
            return invalid("id must be a string, a number or null, of \(RPCIdentifier.longest) bytes at most")
        }
        guard let arguments else { return invalid("params must be an array or an object") }
        let timeout = wholeNumber(timeout)
        let metadata = metadata.flatMap { isNull($0) ? nil : $0 } ?? 0..<0
        // Without the quotes.
        let name = method.lowerBound + 1..<method.upperBound - 1
        if let flaw, flaw.isInParams {
            let request = Request(
                id: identifier, in: frame, method: name, params: 0..<0, timeout: timeout, mark: mark)
            return .unreadable(request, flaw.object(code: ErrorCode.invalidParams, "the params cannot be read"))
        }
        if let flaw { return invalid("it cannot be read: \(flaw.explanation)") }
        if bytes(name).contains(UInt8(ascii: "\\")), let plain = string(method) {
            let params = arguments.isEmpty ? nil : frame[arguments]
            return .request(
                Request(
                    id: identifier, method: Bytes(plain), params: params, timeout: timeout, mark: mark,
                    metadata: frame[metadata]))
        }
        return .request(
            Request(
                id: identifier, in: frame, method: name, params: arguments, timeout: timeout, mark: mark,
                metadata: metadata))
    }

    /// Returns a reply. An invalid one still ends its call if it has an id, so that the caller need not wait until its
    /// deadline.
    private func reply(in frame: Bytes) -> Message {
        guard let id = identifier else { return .ignored("a reply without an id") }
        let number: Int64? = if case .integer(let integer) = id { integer } else { nil }
        func invalid(_ why: String) -> Message {
            let text = "the reply is not valid JSON-RPC: \(why)"
            return .failure(number: number, error: ErrorObject(code: ErrorCode.invalidReply, message: text))
        }
        guard isVersionTwo else { return invalid("jsonrpc must be \"2.0\"") }
        let error = error.flatMap { isNull($0) ? nil : $0 }
        if let flaw {
            var object = flaw.object(code: ErrorCode.invalidReply, "the reply cannot be read")
            // The error may have said what became of the work, but it cannot be read.
            if error != nil { object.data = Bytes(#"{"outcome":"unknown"}"#) }
            return .failure(number: number, error: object)
        }
        guard let error else {
            guard let result else { return invalid("it has neither a result nor an error") }
            return .result(number: number, value: frame[result])
        }
        if let result, !isNull(result) { return invalid("it has both a result and an error") }
        guard let object = ErrorObject(in: frame[error]) else {
            return invalid("its error has no code or no message")
        }
        return .failure(number: number, error: object)
    }

    private func invalid(_ why: String) -> Message {
        var error = ErrorObject(
            code: ErrorCode.invalidRequest, message: "this is not a JSON-RPC 2.0 request: \(why)")
        error.limit = flaw?.limit
        return .invalid(id: identifier ?? .null, error: error)
    }
}

extension Envelope {
    /// The names that members of a message may have. The raw value is the number that the characters form, with the first one
    /// lowest. So one comparison tells a name, instead of one for each character.
    enum Name: UInt64, CaseIterable {
        case jsonrpc = 0x63_7072_6E6F_736A
        case method = 0x646F_6874_656D
        case params = 0x736D_6172_6170
        case id = 0x6469
        case result = 0x746C_7573_6572
        case error = 0x72_6F72_7265
        case timeout = 0x74_756F_656D_6974
        case number = 0x7265_626D_756E
        case inside = 0x6564_6973_6E69
        case transfer = 0x7265_6673_6E61_7274
        case metadata = 0x6174_6164_6174_656D
        case objects = 0x73_7463_656A_626F

        /// Nil for any other name.
        init?(_ key: JSONKey) {
            if let name = Self(rawValue: key.word) {
                self = name
                return
            }
            // A character takes six bytes at most. Longer names are not compared, since a message may have millions of members.
            guard key.hasEscapes, key.length <= 6 * 8, let name = Self.allCases.first(where: { key.matches($0.text) })
            else { return nil }
            self = name
        }

        var text: String {
            withUnsafeBytes(of: rawValue.littleEndian) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
    }
}
