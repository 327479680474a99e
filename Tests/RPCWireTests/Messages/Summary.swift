// What the message tests share: a frame read and told in a few words.

import JSONCodec
import RPCWire

func summary(_ text: String, _ reader: MessageReader = MessageReader()) -> [String] {
    summary(Bytes(text), reader)
}

func summary(_ frame: Bytes, _ reader: MessageReader = MessageReader()) -> [String] {
    summary(reader.read(frame))
}

func summary(_ message: Message) -> [String] {
    if case .batch(let messages) = message { ["batch"] + messages.flatMap(summary) } else { [text(message)] }
}

private func text(_ message: Message) -> String {
    switch message {
    case .request(let request):
        [
            request.id.map { "call \(text($0))" } ?? "notification", request.method.description,
            request.params?.description, request.timeout.map { "within \($0)" },
            text(request.mark),
        ].compactMap { $0 }.joined(separator: " ")
    case .result(let number, let value): "result \(text(number)) \(value)"
    case .failure(let number, let error):
        "failure \(text(number)) \(error.code) \(error.message)" + (error.data.map { " \($0)" } ?? "")
    case .naming(let message, let objects): "\(text(message)) naming \(objects)"
    case .batch(let messages): "batch of \(messages.count)"
    case .unreadable(let request, let error):
        "unreadable \(request.id.map(text) ?? "notification") \(request.method) \(error.code) \(error.message)"
    case .invalid(let id, let error): "invalid \(text(id)) \(error.code)"
    case .refused(let error): "refused \(error.code)"
    case .ignored: "ignored"
    }
}

private func text(_ mark: RequestMark) -> String? {
    switch mark {
    case .none: nil
    case .post(let number): "number \(number)"
    case .inside(let number): "inside \(number)"
    case .transfer(let number): "transfer \(number)"
    }
}

private func text(_ number: Int64?) -> String { number.map { "\($0)" } ?? "no call" }

/// The id as JSON.
func text(_ id: RPCIdentifier) -> String { written { id.append(to: $0) } }

func written(_ write: (JSONOutput) -> Void) -> String {
    let output = JSONOutput()
    write(output)
    return String(decoding: output.bytes, as: UTF8.self)
}
