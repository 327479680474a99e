// A call as the table of calls has it.

/// Not counted: its caller keeps it until it has been told of its end, and asks it once more then (`Peer.perform`). Whoever
/// takes one out of the table does so under the peer's lock, and touches the call no more once the lock is free.
struct WaitingCall {
    unowned(unsafe) let call: OutgoingCall
}
