// What the message tests share: a frame decoded and told in a few words.

import JSONCodec
import RPCWire

func summary(_ text: String, _ decoder: MessageDecoder = MessageDecoder()) -> [String] {
    summary(Bytes(text), decoder)
}

func summary(_ frame: Bytes, _ decoder: MessageDecoder = MessageDecoder()) -> [String] {
    summary(decoder.decode(frame))
}

func summary(_ incoming: Incoming) -> [String] {
    switch incoming {
    case .single(let message): [summary(message)]
    case .batch(let messages): ["batch"] + messages.map(summary)
    case .refused(let error): ["refused \(error.code)"]
    }
}

private func summary(_ message: Message) -> String {
    switch message {
    case .request(let request):
        [
            request.id.map { "call \(text($0))" } ?? "notification", request.method.description,
            request.params?.description, request.timeout.map { "within \($0)" },
            request.number.map { "number \($0)" },
        ].compactMap { $0 }.joined(separator: " ")
    case .result(let id, let value): "result \(text(id)) \(value)"
    case .failure(let id, let error):
        "failure \(text(id)) \(error.code) \(error.message)" + (error.data.map { " \($0)" } ?? "")
    case .unreadable(let request, let error):
        "unreadable \(request.id.map(text) ?? "notification") \(request.method) \(error.code) \(error.message)"
    case .invalid(let id, let error): "invalid \(text(id)) \(error.code)"
    case .ignored: "ignored"
    }
}

/// The id as JSON.
func text(_ id: RPCIdentifier) -> String { written { id.append(to: $0) } }

func written(_ write: (JSONOutput) -> Void) -> String {
    let output = JSONOutput()
    write(output)
    return String(decoding: output.bytes, as: UTF8.self)
}
