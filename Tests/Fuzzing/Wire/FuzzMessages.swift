// Messages: whatever is in a frame is told apart, and what would be answered to it is a message again.

import JSONCodec
import RPCWire

func fuzzMessages(_ bytes: UnsafeRawBufferPointer) {
    let reader = MessageReader(maximumDepth: 40, maximumBatch: 20)
    let frame = Bytes(copying: bytes)
    let message = reader.read(frame)
    require(isSame(message, reader.readAnySpelling(frame)), "a message of our own spelling says something else")
    check(message)
}

/// What is neither a request nor a result has been read the long way both times.
private func isSame(_ one: Message, _ other: Message) -> Bool {
    switch (one, other) {
    case (.request(let one), .request(let other)):
        one.id == other.id && one.method.description == other.method.description
            && one.params?.description == other.params?.description && one.timeout == other.timeout
            && one.mark == other.mark
    case (.result(let number, let value), .result(let otherNumber, let otherValue)):
        number == otherNumber && value.description == otherValue.description
    case (.request, _), (.result, _), (_, .request), (_, .result): false
    default: true
    }
}

private func check(_ message: Message) {
    switch message {
    case .request(let request):
        if let params = request.params {
            checkJSON(params)
            _ = MessageReader.identifier(in: params)
        }
        if let id = request.id { checkAnswer(id, ErrorObject(code: 1, message: request.method.description)) }
    case .result(let number, let value):
        checkJSON(value)
        checkAnswer(number.map { .integer($0) } ?? .null, ErrorObject(code: 1, message: "", data: value))
    case .failure(let number, let error): checkAnswer(number.map { .integer($0) } ?? .null, error)
    case .naming(let message, let objects):
        require((1...Message.mostNamed).contains(objects.count), "\(objects.count) objects")
        check(message)
    case .batch(let messages):
        require((1...20).contains(messages.count), "a batch of \(messages.count)")
        messages.forEach(check)
    case .unreadable(let request, let error): checkAnswer(request.id ?? .null, error)
    case .invalid(let id, let error): checkAnswer(id, error)
    case .refused(let error): checkAnswer(.null, error)
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
    MessageWriter.writeFailure(id: id, error: error, in: output)
    require(!output.bytes.contains(0x0A), "a line feed in an answer")
    guard case .failure(let number, let readError) = MessageReader().read(Bytes(copying: output.bytes))
    else {
        fatalError("an answer that is none: \(String(decoding: output.bytes, as: UTF8.self))")
    }
    let echoed: Int64? = if case .integer(let integer) = id { integer } else { nil }
    require(number == echoed && readError.code == error.code, "an answer to another")
}
