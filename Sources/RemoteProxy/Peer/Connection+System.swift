// The names that belong to the protocol and not to a service: hello, discovery, cancellation, drain … On the loop.

import JSONCodec
import RPCWire
import Synchronization

enum SystemMethod {
    static let hello = "rpc.hello"
    static let authenticate = "rpc.authenticate"
    static let ping = "rpc.ping"
    static let discover = "rpc.discover"
    /// How far the sender has come with what the receiver sends.
    static let received = "rpc.received"
    /// The sender waits to be told, and begins no call before.
    static let report = "rpc.report"
    /// The sender takes no new calls.
    static let drain = "rpc.drain"
    /// The sender leaves and does not come back.
    static let goodbye = "rpc.goodbye"
    static let supports = "rpc.supports"
    static let hold = "rpc.hold"
    static let release = "rpc.release"
    static let cancel = "$/cancelRequest"
}

extension Connection {
    func accept(system request: Request, in batch: BatchReply?) {
        let isNotice = request.id == nil && isOurKind
        switch request.method.description {
        case SystemMethod.cancel:
            if let id = request.params.flatMap(RPCIdentifier.init(cancelParams:)) { session.cancelRequest(id) }
            session.answer(request.id, in: batch) { $0.append("null") }
        case SystemMethod.received where isNotice:
            if let params = request.params, let progress = try? Progress(json: params) { accept(progress) }
        case SystemMethod.report where isNotice:
            report()
            owesReport = !waiting.isEmpty
        case SystemMethod.hello:
            accept(hello: request, in: batch)
        case SystemMethod.discover:
            discover(request, in: batch)
        case SystemMethod.supports:
            session.start(.supports(in: peer.exports), for: request, from: self, in: batch)
        case SystemMethod.authenticate:
            authenticate(request, in: batch)
        case SystemMethod.ping:
            acceptPing(request, in: batch)
        case SystemMethod.drain where isNotice:
            leave(because: "\(stream.remoteAddress) is stopping")
        case SystemMethod.goodbye where isNotice:
            session.saidGoodbye()
        default:
            // Notifications under `$/` are optional by convention and neither answered nor told of; requests are.
            if request.id == nil, request.isOptional { return }
            session.answer(request.id, with: .unknown(request.method, peer.exports), in: batch)
        }
    }

    private func discover(_ request: Request, in batch: BatchReply?) {
        let (document, limit) = (peer.exports.discovery, peer.settings.limits.maximumFrameSize)
        guard document.count < limit - min(limit, 1_024) else {
            let text =
                "what there is takes \(document.count) bytes to list; a frame may have \(limit) (maximumFrameSize)"
            let error = RPCError(.responseTooLarge, text, outcome: .executed)
            return session.answer(request.id, with: ErrorObject(error), in: batch)
        }
        session.answer(request.id, in: batch) { output in document.withUnsafeBytes { output.append($0) } }
    }

    /// Tells the other end how far this one has come.
    func report(flush: Bool = true) {
        session.receipts.reported()
        append {
            MessageEncoder.writeReceipts(
                SystemMethod.received, requests: session.receipts.requests, replies: session.receipts.replies, in: $0)
        }
        if flush { stream.flush() }
    }

    private func accept(_ progress: Progress) {
        guard session.canHave(progress) else { return endMiscounted() }
        session.acknowledged(replies: progress.replies)
        peer.acknowledged(posts: progress.requests, over: channel)
    }
}

/// How far one end has come with what the other sends in their session.
struct Progress: Codable {
    /// The highest number of a call or a post.
    var requests: Int64
    /// How many answers.
    var replies: Int64

    init(_ receipts: Receipts) {
        requests = receipts.requests
        replies = receipts.replies
    }
}

extension Request {
    /// Whether nobody minds if it is not known.
    var isOptional: Bool { withExtendedLifetime(self) { methodName.starts(with: "$/".utf8) } }

    /// Whether the name is one of the protocol's own.
    var isSystem: Bool { isOptional || withExtendedLifetime(self) { methodName.starts(with: "rpc.".utf8) } }
}

extension RPCIdentifier {
    /// The `id` in the parameters of a cancellation.
    init?(cancelParams params: Bytes) {
        guard let id = MessageDecoder.identifier(in: params) else { return nil }
        self = id
    }
}
