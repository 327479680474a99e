// The members of one message while it is being read, in whatever order they come; of a member that comes twice the
// last one counts. Decides at the end what kind of message it was.
//
// Members are kept as ranges of the frame: a view costs a reference count, and only what is handed on is worth one.

internal import JSONCodec

struct Envelope: ~Copyable {
    private enum Version { case absent, right, wrong }
    private enum Identifier { case absent, present(RPCIdentifier), wrong }
    private enum Member { case absent, present(Range<Int>), wrong }
    private struct Value {
        let range: Range<Int>
        let isNull: Bool
    }
    /// What keeps a value from being decoded, though its end was found and the rest of the message could be read.
    private struct Flaw {
        enum Part { case params, reply, other }
        let error: JSONError
        let part: Part

        var limit: Limit? { if case .tooDeep = error.reason { .maximumDepth } else { nil } }

        var explanation: String { limit.map { "\(error) (\($0))" } ?? "\(error)" }

        func object(code: Int, _ what: String) -> ErrorObject {
            var object = ErrorObject(code: code, message: "\(what): \(explanation)")
            object.limit = limit
            return object
        }

        /// The reply ends its call all the same. What an error that cannot be read says of the work is not known.
        func objectForReply(hasError: Bool) -> ErrorObject {
            var object = object(code: ErrorCode.invalidReply, "the reply cannot be read")
            if hasError { object.data = Bytes(#"{"outcome":"unknown"}"#) }
            return object
        }
    }

    private var isObject = false
    private var version = Version.absent
    private var id = Identifier.absent
    /// The text between the quotes.
    private var method = Member.absent
    private var params = Member.absent
    private var timeout: Int64?
    private var number: Int64?
    private var result: Value?
    private var error: Value?
    private var flaw: Flaw?
    private let maximumDepth: Int

    /// Reads the value at the cursor, to its end even when it cannot be a message.
    /// - Parameter maximumDepth: how many levels an argument or a result may have.
    @inline(__always)
    init(_ reader: inout JSONReader, in text: UnsafeRawBufferPointer, maximumDepth: Int) throws(JSONError) {
        self.maximumDepth = maximumDepth
        guard case .object = try reader.peek() else {
            _ = try reader.skipValue()
            return
        }
        isObject = true
        try reader.enterObject()
        while let key = try reader.nextMember() {
            if let name = MemberName(key) {
                try read(name, &reader, in: text)
            } else {
                _ = try skip(&reader, levels: maximumDepth, of: .other)
            }
        }
    }

    /// Reads the value of the member whose name has just been read from `text`.
    @inline(__always)
    private mutating func read(
        _ name: MemberName, _ reader: inout JSONReader, in text: UnsafeRawBufferPointer
    ) throws(JSONError) {
        switch name {
        case .jsonrpc: version = try Self.isTwo(&reader, in: text) ? .right : .wrong
        case .method: method = try Self.string(&reader)
        case .params: params = try params(&reader, in: text)
        case .id: id = try RPCIdentifier(&reader, in: text).map { .present($0) } ?? .wrong
        case .result: result = try value(&reader, levels: maximumDepth)
        // An error and its data are two levels around what the subject has put there.
        case .error: error = try value(&reader, levels: maximumDepth + 2)
        case .timeout: timeout = try Self.wholeNumber(&reader)
        case .number: number = try Self.wholeNumber(&reader)
        }
    }

    // MARK: Members

    private static func isTwo(_ reader: inout JSONReader, in text: UnsafeRawBufferPointer) throws(JSONError) -> Bool {
        guard case .present(let range) = try string(&reader) else { return false }
        let version = UnsafeRawBufferPointer(rebasing: text[range])
        if version.count == 3 { return version[0] == 0x32 && version[1] == 0x2E && version[2] == 0x30 }
        // Longer, it can only be the same with escapes.
        return hasEscapes(version) && unescaped(range, in: text) == "2.0"
    }

    private static func string(_ reader: inout JSONReader) throws(JSONError) -> Member {
        let kind = try reader.peek()
        let range = try reader.skipValue()
        switch kind {
        case .string: return .present(range.lowerBound + 1..<range.upperBound - 1)
        // Some writers list every member they know, with null for those that do not apply.
        case .null: return .absent
        default: return .wrong
        }
    }

    private mutating func params(
        _ reader: inout JSONReader, in text: UnsafeRawBufferPointer
    ) throws(JSONError) -> Member {
        let kind = try reader.peek()
        // The list of the arguments is a level around them.
        let range = try skip(&reader, levels: maximumDepth + 1, of: .params)
        switch kind {
        case .array, .object:
            let inside = UnsafeRawBufferPointer(rebasing: text[range.lowerBound + 1..<range.upperBound - 1])
            return leadingBlanks(in: inside) == inside.count ? .absent : .present(range)
        case .null: return .absent
        default: return .wrong
        }
    }

    /// Nil for anything but a whole number: the member is not JSON-RPC's and may mean something else.
    private static func wholeNumber(_ reader: inout JSONReader) throws(JSONError) -> Int64? {
        if case .number = try reader.peek(), let number = try reader.readInt64() { return number >= 0 ? number : nil }
        _ = try reader.skipValue()
        return nil
    }

    private mutating func value(_ reader: inout JSONReader, levels: Int) throws(JSONError) -> Value {
        let kind = try reader.peek()
        let range = try skip(&reader, levels: levels, of: .reply)
        if case .null = kind { return Value(range: range, isNull: true) }
        return Value(range: range, isNull: false)
    }

    private static func hasEscapes(_ text: UnsafeRawBufferPointer) -> Bool { text.contains(UInt8(ascii: "\\")) }

    /// The string whose text between the quotes has this range; nil only if it had not been read as one before.
    private static func unescaped(_ range: Range<Int>, in text: UnsafeRawBufferPointer) -> String? {
        var reader = JSONReader(UnsafeRawBufferPointer(rebasing: text[range.lowerBound - 1..<range.upperBound + 1]))
        return try? reader.readString()
    }

    // MARK: Flaws

    /// Moves behind the value at the cursor, which may have this many levels. A value that is deeper, or has half of a
    /// surrogate pair, is noted: the rest of the message is read, so that its sender is answered under its id.
    @inline(__always)
    private mutating func skip(
        _ reader: inout JSONReader, levels: Int, of part: Flaw.Part
    ) throws(JSONError) -> Range<Int> {
        let start = reader
        reader.limitDepth(to: levels)
        let range: Range<Int>
        do throws(JSONError) {
            range = try reader.skipValue()
        } catch {
            reader = start
            range = try skipFlawed(&reader, error, of: part)
        }
        reader.maximumDepth = start.maximumDepth
        return range
    }

    @inline(never)
    private mutating func skipFlawed(
        _ reader: inout JSONReader, _ error: JSONError, of part: Flaw.Part
    ) throws(JSONError) -> Range<Int> {
        var found = error
        switch error.reason {
        // As it was set, without the levels around an argument or a result.
        case .tooDeep: found = JSONError(offset: error.offset, reason: .tooDeep(limit: maximumDepth))
        case .loneSurrogate: break
        default: throw error
        }
        flaw = Flaw(error: found, part: part)
        do throws(JSONError) { return try reader.skipFlawedValue() } catch { throw found }
    }

    // MARK: The message

    /// - Parameters:
    ///   - text: the bytes of `frame`.
    @inline(__always)
    consuming func message(in frame: Bytes, _ text: UnsafeRawBufferPointer) -> Message {
        if case .absent = method, result != nil || error != nil { return reply(in: frame) }
        guard isObject else { return invalid("it must be an object") }
        guard case .right = version else { return invalid("jsonrpc must be \"2.0\"") }
        guard case .present(let name) = method else { return invalid("method must be a string") }
        let identifier: RPCIdentifier?
        switch id {
        case .present(let id): identifier = id
        case .absent: identifier = nil
        case .wrong: return invalid("id must be a string, a number or null, of \(RPCIdentifier.longest) bytes at most")
        }
        let arguments: Range<Int>
        switch params {
        case .present(let range): arguments = range
        case .absent: arguments = 0..<0
        case .wrong: return invalid("params must be an array or an object")
        }
        if let flaw, flaw.part == .params {
            let request = Request(
                id: identifier, in: frame, method: name, params: 0..<0, timeout: timeout, number: number)
            return .unreadable(request, flaw.object(code: ErrorCode.invalidParams, "the params cannot be read"))
        }
        if let flaw { return invalid("it cannot be read: \(flaw.explanation)") }
        if Self.hasEscapes(UnsafeRawBufferPointer(rebasing: text[name])), let plain = Self.unescaped(name, in: text) {
            let params = arguments.isEmpty ? nil : frame[arguments]
            return .request(
                Request(id: identifier, method: Bytes(plain), params: params, timeout: timeout, number: number))
        }
        return .request(
            Request(
                id: identifier, in: frame, method: name, params: arguments, timeout: timeout, number: number))
    }

    /// A reply that is not valid still ends its call, if it says which: the caller should not wait out its deadline.
    private func reply(in frame: Bytes) -> Message {
        guard case .present(let id) = id else { return .ignored("a reply without an id") }
        guard case .right = version else { return invalidReply(to: id, "jsonrpc must be \"2.0\"") }
        if let flaw { return .failure(id: id, error: flaw.objectForReply(hasError: error?.isNull == false)) }
        guard let error, !error.isNull else {
            guard let result else { return invalidReply(to: id, "it has neither a result nor an error") }
            return .result(id: id, value: frame[result.range])
        }
        guard result?.isNull ?? true else { return invalidReply(to: id, "it has both a result and an error") }
        guard let object = ErrorObject(in: frame[error.range]) else {
            return invalidReply(to: id, "its error has no code or no message")
        }
        return .failure(id: id, error: object)
    }

    private func invalidReply(to id: RPCIdentifier, _ why: String) -> Message {
        let text = "the reply is not valid JSON-RPC: \(why)"
        return .failure(id: id, error: ErrorObject(code: ErrorCode.invalidReply, message: text))
    }

    private func invalid(_ why: String) -> Message {
        var error = ErrorObject(
            code: ErrorCode.invalidRequest, message: "this is not a JSON-RPC 2.0 request: \(why)")
        error.limit = flaw?.limit
        if case .present(let id) = id { return .invalid(id: id, error: error) }
        return .invalid(id: .null, error: error)
    }
}
