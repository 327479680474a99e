// Receives a frame, walks over it once from its first byte to its last, and hands on the messages in it. What is not
// JSON to the end yields no message at all.

internal import JSONCodec

package struct MessageDecoder: Sendable {
    private let maximumDepth: Int
    private let maximumBatch: Int

    /// - Parameter maximumDepth: how many levels an argument or a result may have. The message around it, a batch, and the list
    ///   of the arguments do not count.
    package init(maximumDepth: Int = 512, maximumBatch: Int = 1_000) {
        self.maximumDepth = max(0, min(maximumDepth, JSONReader.deepestLimit))
        self.maximumBatch = maximumBatch
    }

    package func decode(_ frame: Bytes) -> Incoming {
        frame.withUnsafeBytes { bytes in
            guard var plain = PlainEnvelope(bytes, maximumDepth: maximumDepth), let message = plain.message(in: frame)
            else { return decodeAnySpelling(frame) }
            return .single(message)
        }
    }

    /// The same for nothing but a request that `decode` would read in a straight line: nil for every other message.
    package func decodeRequest(_ frame: Bytes) -> PlainRequest? {
        frame.withUnsafeBytes { bytes in
            guard var plain = PlainEnvelope(bytes, maximumDepth: maximumDepth) else { return nil }
            return plain.request()
        }
    }

    /// The same for nothing but a reply that `decode` would read in a straight line: nil for every other message.
    package func decodeReply(_ frame: Bytes) -> PlainReply? {
        frame.withUnsafeBytes { bytes in
            guard var plain = PlainEnvelope(bytes, maximumDepth: maximumDepth) else { return nil }
            return plain.reply()
        }
    }

    /// The same as `decode` for every spelling, and the judge of what is wrong.
    @inline(never)
    package func decodeAnySpelling(_ frame: Bytes) -> Incoming {
        frame.withUnsafeBytes { bytes in
            do throws(JSONError) {
                var reader = JSONReader(bytes)
                reader.limitDepth(to: maximumDepth + 2)
                if case .array = try reader.peek() { return try batch(&reader, in: frame, bytes) }
                let envelope = try Envelope(&reader, in: bytes, maximumDepth: maximumDepth)
                try reader.finish()
                return .single(envelope.message(in: frame, bytes))
            } catch {
                var refusal = ErrorObject(code: ErrorCode.parseError, message: "this is not JSON: \(error)")
                if case .tooDeep = error.reason { refusal.limit = .maximumDepth }
                return .refused(refusal)
            }
        }
    }

    private func batch(
        _ reader: inout JSONReader, in frame: Bytes, _ text: UnsafeRawBufferPointer
    ) throws(JSONError) -> Incoming {
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
            messages.append(envelope.message(in: frame, text))
        }
        try reader.finish()
        guard !messages.isEmpty else {
            return .refused(ErrorObject(code: ErrorCode.invalidRequest, message: "a batch has no members"))
        }
        return .batch(messages)
    }

    /// The id in the parameters of a cancellation, which are `{"id":…}`; of far more than that nothing is read.
    package static func identifier(in params: Bytes) -> RPCIdentifier? {
        guard params.count <= 16 * RPCIdentifier.longest else { return nil }
        return params.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            var id: RPCIdentifier?
            do throws(JSONError) {
                try reader.enterObject()
                while let key = try reader.nextMember() {
                    if key.matches("id") {
                        id = try RPCIdentifier(&reader, in: bytes)
                    } else {
                        _ = try reader.skipValue()
                    }
                }
                return id
            } catch {
                return nil
            }
        }
    }
}
