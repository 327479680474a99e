// Why a call or post does not begin. Decided under the lock, put into words outside.

import JSONCodec
import RPCSockets
import RPCWire

enum Refusal {
    /// The caller's task was cancelled before.
    case cancelled
    case noTimeLeft
    case closed
    case tooManyPosts
    case tooManyPending
    case tooLarge
    case unreachable
}

extension Peer.State {
    /// Why this call may not begin, if so. Inlined, or the state would be copied for it.
    @inline(__always)
    func refusal(of call: OutgoingCall, _ settings: Peer.Settings) -> Refusal? {
        if closed != nil { return .closed }
        if call.isPost {
            guard posts.byteCount < settings.maximumPendingPostBytes else { return .tooManyPosts }
        } else {
            guard outgoing.count < settings.maximumPendingCalls else { return .tooManyPending }
            if call.whenUnreachable == .ends, isUnreachable { return .unreachable }
        }
        return isTooLarge(call) ? .tooLarge : nil
    }
}

extension Refusal {
    func error(_ call: OutgoingCall, _ peer: Peer) -> RPCError? {
        switch self {
        case .cancelled: nil
        case .noTimeLeft: .noTimeLeft
        case .closed: peer.state.withLock { $0.closed }
        case .tooManyPosts: .tooManyPosts(peer.settings.maximumPendingPostBytes)
        case .tooManyPending: .tooManyPending(peer.settings.maximumPendingCalls)
        case .tooLarge: .tooLarge(call.message.count, limit: peer.frameLimit)
        case .unreachable: .unreachable(peer.state.withLock { $0.whyUnavailable })
        }
    }
}
