// One JSON-RPC message as it came in: told apart, checked, and otherwise left as the bytes it is.

package enum Message: Sendable {
    case request(Request)
    /// - Parameter value: JSON text.
    case result(id: RPCIdentifier, value: Bytes)
    case failure(id: RPCIdentifier, error: ErrorObject)
    /// Not a request, but whoever sent it may wait for an answer: this error, under this id.
    case invalid(id: RPCIdentifier, error: ErrorObject)
    /// A reply to nothing. Replies are never answered, not even bad ones, or two ends could go on for ever.
    case ignored(String)

    /// Whether an answer is owed for it.
    package var isAnswered: Bool {
        switch self {
        case .request(let request): request.id != nil
        case .invalid: true
        case .result, .failure, .ignored: false
        }
    }
}

extension Message {
    package var isReply: Bool {
        switch self {
        case .result, .failure: true
        case .request, .invalid, .ignored: false
        }
    }

    /// Whether it is the answer to a ping of our own.
    package var isPong: Bool {
        if case .result(let id, _) = self { id.isOfPing } else { false }
    }
}

package struct Request: Sendable {
    /// Nil for a notification, which is never answered.
    package var id: RPCIdentifier?
    /// UTF-8, without escapes.
    package var method: Bytes
    /// JSON text of an array or an object; nil when there are none, which missing, null, [] and {} all mean.
    package var params: Bytes?
    /// How long the caller waits, in milliseconds. Our own member beside those of JSON-RPC.
    package var timeout: Int64?
    /// The number of a post, which has no id. Our own member too.
    package var number: Int64?

    package init(id: RPCIdentifier?, method: Bytes, params: Bytes?, timeout: Int64?, number: Int64? = nil) {
        self.id = id
        self.method = method
        self.params = params
        self.timeout = timeout
        self.number = number
    }

    /// Whether one of our own kind asks if anybody is there.
    package var isPing: Bool {
        id?.isOfPing == true && method.withUnsafeBytes { $0.elementsEqual("rpc.ping".utf8) }
    }
}

/// What a frame holds.
package enum Incoming: Sendable {
    case single(Message)
    /// At least one, in the order they stand there.
    case batch([Message])
    /// Not to be read as messages: answered once, under the id null.
    case refused(ErrorObject)
}
