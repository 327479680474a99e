// Reads the message in a frame. Walks over the frame once, from the first byte to the last. A frame that is not JSON to its end
// yields no message.

internal import JSONCodec

/// The only parser of messages. A message is classified here and nowhere else.
package struct MessageReader: Sendable {
    private let maximumDepth: Int
    private let maximumBatch: Int

    /// - Parameters:
    ///   - maximumDepth: how many levels an argument or a result may have. The message, a batch, and the list of arguments
    ///     around it do not count.
    ///   - maximumBatch: how many messages a batch may have.
    package init(maximumDepth: Int = 512, maximumBatch: Int = 1_000) {
        self.maximumDepth = max(0, min(maximumDepth, JSONReader.deepestLimit))
        self.maximumBatch = maximumBatch
    }

    /// Returns the message in a frame, as views of the frame.
    package func read(_ frame: consuming Bytes) -> Message {
        if var own = OwnSpelling(frame.memory, maximumDepth: maximumDepth), own.pass(#"{"jsonrpc":"2.0","#) {
            if own.pass(#""id":"#) {
                if let (number, value) = own.result() {
                    return .result(
                        number: number, value: Bytes(start: value.lowerBound, end: value.upperBound, of: frame))
                }
            } else if own.pass(#""method":""#), let (id, method, params, timeout, mark) = own.request() {
                return .request(
                    Request(
                        id: id.map { .integer($0) }, in: frame, method: method, params: params, timeout: timeout,
                        mark: mark))
            }
        }
        return readAnySpelling(frame)
    }

    /// The same as `read` for a message in any spelling. The result says what is wrong with an invalid one.
    @inline(never)
    package func readAnySpelling(_ frame: Bytes) -> Message {
        frame.withUnsafeBytes { text in
            do throws(JSONError) {
                var reader = JSONReader(text)
                reader.limitDepth(to: maximumDepth + 2)
                if try reader.peek() == .array { return try batch(&reader, in: frame, text) }
                let envelope = try Envelope(&reader, in: text, maximumDepth: maximumDepth)
                try reader.finish()
                return envelope.message(in: frame)
            } catch {
                var refusal = ErrorObject(code: ErrorCode.parseError, message: "this is not JSON: \(error)")
                if case .tooDeep = error.reason { refusal.limit = .maximumDepth }
                return .refused(refusal)
            }
        }
    }

    private func batch(
        _ reader: inout JSONReader, in frame: Bytes, _ text: UnsafeRawBufferPointer
    ) throws(JSONError) -> Message {
        var messages: [Message] = []
        try reader.enterArray()
        while try reader.nextElement() {
            guard messages.count < maximumBatch else {
                let why = "a batch has more than \(maximumBatch) members (maximumBatch)"
                var refusal = ErrorObject(code: ErrorCode.batchTooLarge, message: why)
                refusal.limit = .maximumBatch
                return .refused(refusal)
            }
            let envelope = try Envelope(&reader, in: text, maximumDepth: maximumDepth)
            messages.append(envelope.message(in: frame))
        }
        try reader.finish()
        guard !messages.isEmpty else {
            return .refused(ErrorObject(code: ErrorCode.invalidRequest, message: "a batch has no members"))
        }
        return .batch(messages)
    }

    /// Returns the id in the parameters of a cancellation, which are `{"id":…}`. Does not read much longer parameters.
    package static func identifier(in params: Bytes) -> RPCIdentifier? {
        guard params.count <= 16 * RPCIdentifier.longest else { return nil }
        return params.withUnsafeBytes { text in
            var reader = JSONReader(text)
            var id: RPCIdentifier?
            do throws(JSONError) {
                try reader.enterObject()
                while let key = try reader.nextMember() {
                    let value = UnsafeRawBufferPointer(rebasing: text[try reader.skipValue()])
                    if key.matches("id") { id = RPCIdentifier(value) }
                }
                return id
            } catch {
                return nil
            }
        }
    }
}
