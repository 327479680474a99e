// How a call ended, on its way to the caller that waits for that.

import RPCWire

/// A caller that waits for its call's end, which it then finds in the call. Taken out of the call under the peer's lock by
/// whatever ends it; resumed outside the lock, exactly once, because only one can have taken it.
typealias Waiter = UnsafeContinuation<Void, Never>

/// How a call ended, as the peer's driver tells its caller. Most end well, so the others are kept elsewhere and this small.
enum CallEnd: Sendable {
    /// The peer's result, still JSON.
    case result(Bytes)
    /// The peer's error.
    indirect case failure(ErrorObject)
    /// This end gave up on it.
    indirect case failed(RPCError)
    /// The caller's task was cancelled.
    case cancelled(wasSent: Bool)
}

/// A reply on its way to the caller that waits for it.
struct CallReply {
    /// Of the call.
    let number: Int64
    var end: CallEnd
    /// Known when the call has been found.
    var waiter: Waiter?
}
