// The names that belong to the protocol and not to a service: hello, discovery, cancellation, drain. On the loop.

import JSONCodec
import RPCWire
import Synchronization

enum SystemMethod {
    static let hello = "rpc.hello"
    static let discover = "rpc.discover"
    static let supports = "rpc.supports"
    static let drain = "rpc.drain"
    static let hold = "rpc.hold"
    static let release = "rpc.release"
    static let cancel = "$/cancelRequest"
}

/// What the dialling end says first.
struct Hello: Codable {
    /// The version of what our own ends agree on beyond JSON-RPC.
    var `protocol` = 1
    /// What its calls may take unless they say otherwise, in milliseconds.
    var timeout: Int64?
}

/// What the other end answers.
struct Welcome: Codable {
    var `protocol` = 1
    var session: String
}

extension Connection {
    /// Reserved for the hello: the numbers of calls begin at 1.
    private static let helloID = RPCIdentifier.integer(0)

    func sayHello() {
        let hello = Hello(timeout: peer.settings.timeout.nanoseconds / 1_000_000)
        append { output in
            MessageEncoder.openRequest(method: SystemMethod.hello, in: output)
            // Two integers cannot fail to encode.
            try? output.encode(hello)
            MessageEncoder.closeRequest(id: 0, timeout: nil, in: output)
        }
        stream.flush()
    }

    /// Takes the answer to the hello. A peer that refuses it is somebody else's server, and is spoken to in plain
    /// JSON-RPC from then on.
    func isHello(_ id: RPCIdentifier, failed: Bool) -> Bool {
        guard case .dialled = role, id == Self.helloID else { return false }
        // Only once, or a peer could put a connection that has been left back in place of its successor.
        guard !hasGreeted else { return true }
        hasGreeted = true
        agreement.isOurKind = !failed
        peer.attach(self)
        events.ready(self)
        return true
    }

    func accept(system request: Request, in batch: BatchReply?) {
        switch request.method.description {
        case SystemMethod.cancel:
            if let id = request.params.flatMap(RPCIdentifier.init(cancelParams:)) { cancelRequest(id) }
            answer(request.id, in: batch) { $0.append("null") }
        case SystemMethod.hello:
            welcome(request, in: batch)
        case SystemMethod.discover:
            answer(request.id, in: batch) { Discovery.write(peer.exports, in: $0) }
        case SystemMethod.supports:
            start(.supports(in: peer.exports), for: request, in: batch)
        case SystemMethod.drain where request.id == nil && isOurKind:
            leave(because: "\(stream.remoteAddress) is stopping")
        default:
            // Notifications under `$/` are optional by convention and never answered; requests are.
            answer(request.id, with: .unknown(request.method, peer.exports), in: batch)
        }
    }

    /// The other end is going away: new calls wait for the next connection.
    func leave(because why: String) {
        guard peer.leave(self, why: why) else { return }
        // What callers have queued here and promised to flush later is theirs to be sent.
        stream.flush()
        events.leaving(self, why)
    }

    private func welcome(_ request: Request, in batch: BatchReply?) {
        let hello = request.params.flatMap { $0.withUnsafeBytes { try? decodeJSON(Hello.self, from: $0) } }
        assumedTimeout = hello?.timeout.map { .milliseconds($0) }
        agreement.isOurKind = true
        answer(request.id, in: batch) { try? $0.encode(Welcome(session: peer.session)) }
    }

    /// When the peer stops waiting, as far as it told.
    func deadline(of request: Request) -> Instant {
        // Nobody waits for the end of a post.
        guard request.id != nil else { return .distantFuture }
        guard isOurKind else { return request.timeout.map { after(.milliseconds($0)) } ?? .distantFuture }
        guard let left = request.timeout.map(Duration.milliseconds) ?? assumedTimeout else { return .distantFuture }
        return after(left)
    }

    private func after(_ duration: Duration) -> Instant { stream.loop.now.advanced(by: duration) }
}

extension Request {
    /// Whether the name is one of the protocol's own.
    var isSystem: Bool {
        method.withUnsafeBytes { $0.starts(with: "rpc.".utf8) || $0.starts(with: "$/".utf8) }
    }
}

extension RPCIdentifier {

    /// The `id` in the parameters of a cancellation.
    fileprivate init?(cancelParams params: Bytes) {
        guard let id = MessageDecoder.identifier(in: params) else { return nil }
        self = id
    }
}
