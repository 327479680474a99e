// Messages: whatever is in a frame is told apart, and what would be answered to it is a message again.

import JSONCodec
import RPCWire

func fuzzMessages(_ bytes: UnsafeRawBufferPointer) {
    let decoder = MessageDecoder(maximumDepth: 40, maximumBatch: 20)
    let frame = Bytes(copying: bytes)
    let incoming = decoder.decode(frame)
    require(isSame(incoming, decoder.decodeAnySpelling(frame)), "the short way says something else")
    if let request = decoder.decodeRequest(frame) {
        let request = Message.request(Request(request, in: frame))
        require(isSame(.single(request), incoming), "a request that is read for itself says something else")
    }
    if let reply = decoder.decodeReply(frame) {
        let result = Message.result(id: .integer(reply.number), value: reply.value(insteadOf: frame))
        require(isSame(.single(result), incoming), "a reply that is read for itself says something else")
    }
    switch incoming {
    case .single(let message): check(message)
    case .batch(let messages):
        require((1...20).contains(messages.count), "a batch of \(messages.count)")
        messages.forEach(check)
    case .refused(let error): checkAnswer(.null, error)
    }
}

/// What is neither a request nor a result has been read the long way both times.
private func isSame(_ one: Incoming, _ other: Incoming) -> Bool {
    switch (one, other) {
    case (.single(.request(let one)), .single(.request(let other))):
        one.id == other.id && one.method.description == other.method.description
            && one.params?.description == other.params?.description && one.timeout == other.timeout
            && one.number == other.number
    case (.single(.result(let id, let value)), .single(.result(let otherID, let otherValue))):
        id == otherID && value.description == otherValue.description
    case (.single(.request), _), (.single(.result), _), (_, .single(.request)), (_, .single(.result)): false
    default: true
    }
}

private func check(_ message: Message) {
    switch message {
    case .request(let request):
        if let params = request.params {
            checkJSON(params)
            _ = MessageDecoder.identifier(in: params)
        }
        if let id = request.id { checkAnswer(id, ErrorObject(code: 1, message: request.method.description)) }
    case .result(let id, let value):
        checkJSON(value)
        checkAnswer(id, ErrorObject(code: 1, message: "", data: value))
    case .unreadable(let request, let error): checkAnswer(request.id ?? .null, error)
    case .failure(let id, let error), .invalid(let id, let error): checkAnswer(id, error)
    case .ignored: break
    }
}

private func checkJSON(_ text: Bytes) {
    text.withUnsafeBytes { bytes in
        var reader = JSONReader(bytes)
        do throws(JSONError) {
            _ = try reader.skipValue()
            try reader.finish()
        } catch {
            fatalError("not JSON: \(text)")
        }
    }
}

/// An error under this id can be read, says the same, and stays on one line.
private func checkAnswer(_ id: RPCIdentifier, _ error: ErrorObject) {
    let output = JSONOutput()
    MessageEncoder.writeFailure(id: id, error: error, in: output)
    require(!output.bytes.contains(0x0A), "a line feed in an answer")
    guard case .single(.failure(let readID, let readError)) = MessageDecoder().decode(Bytes(copying: output.bytes))
    else {
        fatalError("an answer that is none: \(String(decoding: output.bytes, as: UTF8.self))")
    }
    require(readID == id && readError.code == error.code, "an answer to another")
}
