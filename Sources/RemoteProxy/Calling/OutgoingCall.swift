// One call on its way out and back: the message it sends and the caller that waits for its end.

import JSONCodec
import RPCSockets
import RPCWire
import Synchronization

/// A call's message and its waiting caller. Reused from call to call for its buffer.
///
/// `@unchecked Sendable`: its caller alone touches it before it is handed to the requester and after the requester has
/// resumed the caller. In between everything here is guarded by the requester's lock.
final class OutgoingCall: @unchecked Sendable {
    /// The message without its end; the id and the time left are added when a connection takes it.
    let message = JSONOutput()
    /// The same when it is large and has been given to a stream, which has it as well: then the output is empty.
    var given: Bytes?
    /// How long the message is, without its end.
    var count: Int { given?.count ?? message.count }
    var isPost = false
    /// When its caller waits no longer; until it begins, when that is over which it is made in.
    var deadline = Instant.distantFuture
    /// What becomes of it when its connection is lost, or none can be had.
    var persistence = Persistence.waits
    /// It may have run for a session that is lost; now it waits for another run.
    var mayHaveRun = false
    /// Its number, once it is in the table.
    var id: Int64?
    var waiter: Waiter?
    /// How it ended, from when it has left the table.
    private var end: CallEnd?
    /// Cancelled before it was started.
    var isCancelled = false

    #if KNOWN_RUNTIME
        /// Tells the requester that the caller's task was cancelled.
        let cancellation = OutgoingCall.cancellationWatch()
    #endif
    /// How the caller stands to the loop, from when it begins until it waits.
    var visit = LoopVisit.elsewhere
    private let isOver = Atomic(false)

    /// Begins its message.
    /// - Parameter object: what it is called at the other end, if it has a name.
    func open(_ signature: MethodSignature, to object: String?) {
        // A failover repeats its calls itself.
        if signature.isRepeatable, persistence == .waits { persistence = .waitsAndRepeats }
        if let object {
            MessageWriter.openRequest(method: signature.wireName(on: object), in: message)
        } else {
            message.append(raw: signature.opening)
        }
    }

    /// It has left the table, or was refused. Returns its caller, which is told next.
    func leave(_ end: consuming CallEnd?) -> Waiter? {
        // Nothing of it is touched behind this.
        defer { isOver.store(true, ordering: .releasing) }
        self.end = consume end
        return waiter.take()
    }

    /// Whether it has left the table, or was refused. To be woken orders all that was done to the call before what the caller
    /// does now, but by means of the runtime, which no checker of races sees; to ask this does so once more.
    var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    /// By the caller, when it has ended: the call is the caller's alone again.
    func comeBack() -> CallEnd { end.take() ?? .failed(.cancelled(wasSent: true)) }

    /// To be given once more. Hardly ever has it been given before.
    @inline(__always)
    func writeAgain() {
        guard let given else { return }
        given.withUnsafeBytes { message.append($0) }
        self.given = nil
    }

    /// From now on its time runs.
    /// - Parameter timeout: in nanoseconds.
    func begin(at now: Instant, _ timeout: Int64) {
        deadline = min(now.advanced(byNanoseconds: timeout), deadline)
    }

    func reset() {
        isOver.store(false, ordering: .relaxed)
        message.removeAll()
        if given != nil { given = nil }
        isPost = false
        deadline = .distantFuture
        persistence = .waits
        mayHaveRun = false
        id = nil
        waiter = nil
        end = nil
        isCancelled = false
    }
}

// MARK: as the table of calls knows it

extension OutgoingCall {
    var handle: CallHandle { CallHandle(word: UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) }

    /// The call with this handle. Not counted: its caller keeps it until it has been told of its end, and asks the call once
    /// more then (`hasEnded`). Touched under the requester's lock only, and no more once the call has left the table.
    static func with(_ handle: CallHandle) -> Unmanaged<OutgoingCall>? {
        UnsafeRawPointer(bitPattern: handle.word).map { .fromOpaque($0) }
    }
}

#if KNOWN_RUNTIME
    extension OutgoingCall {
        /// Tells a requester that the task of a call's caller was cancelled.
        fileprivate static func cancellationWatch() -> CancellationWatch {
            CancellationWatch { requester, call in
                guard let requester, let call else { return }
                let waiting = Unmanaged<OutgoingCall>.fromOpaque(call).takeUnretainedValue()
                Unmanaged<Requester>.fromOpaque(requester).takeUnretainedValue().cancel(waiting)
            }
        }
    }
#endif

// MARK: how it ends

/// A caller that waits for its call's end, which it then finds in the call. The code that ends the call takes the waiter out of it
/// under the requester's lock and resumes it outside the lock: exactly once, because only one event can have taken it.
typealias Waiter = UnsafeContinuation<Void, Never>

/// How a call ended, as the requester tells its caller. Most end well, so the others are kept elsewhere and this small.
enum CallEnd: Sendable {
    /// The peer's result, still JSON.
    case result(Bytes)
    /// The peer's error.
    indirect case failure(ErrorObject)
    /// There was no reply.
    indirect case failed(CallFailure)
}

/// A reply on its way to the caller that waits for it.
struct CallReply {
    /// Of the call.
    let number: Int64
    /// Nil once it is in the call.
    var end: CallEnd?
    /// Known when the call has been found.
    var waiter: Waiter?
}
