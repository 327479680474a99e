// A call as the table of calls has it.

/// Not counted: its caller keeps it until it has been told of its end, and asks it once more then (`hasEnded`). Whoever
/// takes one out of the table does so under the peer's lock, and touches the call no more once the lock is free.
struct WaitingCall {
    private let reference: Unmanaged<OutgoingCall>
    var call: OutgoingCall { reference.takeUnretainedValue() }

    init(_ call: OutgoingCall) { reference = .passUnretained(call) }

    /// It has left the table. Returns its caller, who is told next and finds the end in the call.
    /// - Parameter end: taken out, since a copy would be counted.
    @inline(__always)
    func leave(_ end: inout CallEnd) -> Waiter? {
        reference._withUnsafeGuaranteedRef { $0.leave(exchange(&end, with: .cancelled(wasSent: true))) }
    }
}
