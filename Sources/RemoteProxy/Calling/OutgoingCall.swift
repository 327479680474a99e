// One call on its way out and back: its message, and the caller that waits for its end.

import JSONCodec
import RPCSockets
import RPCWire
import Synchronization

/// A call's message and its waiting caller. Calls are reused one after another, for the memory of the message.
///
/// `@unchecked Sendable`: the caller alone touches the call before it is handed to the requester, and after the requester has
/// resumed the caller. In between, the requester's lock guards all of it.
final class OutgoingCall: CodedMessage, @unchecked Sendable {
    /// The message without its end. The id and the time left are added when a connection takes it.
    let message = JSONOutput()
    /// The message when it is large and a channel has it as well. Then `message` is empty.
    var given: Bytes?
    /// What is written behind the arguments for a peer that runs this library.
    var metadata: CallMetadata?
    /// The length of the message without its end, in bytes, at most. Twelve are for the name of each member.
    var count: Int {
        var count = given?.count ?? message.count
        if let metadata { count += metadata.text.utf8.count + 12 }
        if let named { count += named.all.count * 21 + 12 }
        return count
    }
    /// When the caller stops waiting. Until the call begins: the deadline that it inherits from its scope.
    var deadline = Instant.distantFuture
    /// What becomes of the call when its connection is lost, or no connection can be made.
    var persistence = Persistence.waits
    /// Whether the call may have run for a session that is lost, and now waits to be run again.
    var mayHaveRun = false
    /// The number of the call; nil until it is in the table.
    var id: Int64?
    var waiter: Waiter?
    /// How the call ended; nil until it has left the table.
    private var end: CallEnd?
    private(set) var origin = CallOrigin()
    /// Whether the call was cancelled before it was started.
    var isCancelled = false

    #if KNOWN_RUNTIME && arch(x86_64) && canImport(Glibc)
        /// Tells the requester when the caller's task is cancelled.
        let cancellation = OutgoingCall.cancellationWatch()
    #endif
    /// Whether the caller's code is on the loop. Set from when the call begins until the caller waits.
    var visit = LoopVisit.elsewhere
    private let isOver = Atomic(false)

    /// Takes over what a call or a post inherits from the scope in which it is made.
    func inherit(_ scope: CallScope, for requester: Requester) {
        if let deadline = scope.deadline { self.deadline = deadline }
        if let metadata = scope.metadata { self.metadata = metadata }
        if let attempt = scope.attempt, attempt.requester == ObjectIdentifier(requester) {
            persistence = attempt.persistence
        }
    }

    /// Notes which task waits for the call, and inside which request.
    func isAwaited(in scope: CallScope?, through requester: Requester) {
        origin = CallOrigin(
            task: RunningTask.address, scope: scope, place: scope.flatMap { CallPlace(of: $0, for: requester) })
    }

    /// Begins the message of the call.
    /// - Parameters:
    ///   - object: the name of the object at the other end; nil for the unnamed one.
    ///   - reference: the same object, if the other end has given it by reference.
    func open(_ signature: MethodSignature, to object: String?, _ reference: RemoteReference? = nil) {
        // Only without a failover around it, which repeats its calls itself.
        if signature.isRepeatable, persistence == .waits { persistence = .waitsAndRepeats }
        if let reference, reference.isForeign {
            MessageWriter.openRequest(
                method: "\(SystemMethod.invoke)\(reference.handle)/\(signature.name)", in: message)
        } else if let reference {
            signature.open(handle: reference.handle, in: message)
        } else if let object {
            MessageWriter.openRequest(method: signature.wireName(on: object), in: message)
        } else {
            message.append(raw: signature.opening)
        }
    }

    /// Ends the call when it has left the table, or was refused. Returns the waiter, which must be resumed next.
    func finish(_ end: consuming CallEnd?) -> Waiter? {
        // This store comes last: from then on the call belongs to its caller.
        defer { isOver.store(true, ordering: .releasing) }
        self.end = consume end
        return waiter.take()
    }

    /// Whether the call has left the table, or was refused. The runtime orders all that came before the caller was resumed, but
    /// race checkers cannot see that. They can see this load.
    var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    /// Takes the call back when it has ended, and returns its end. Called by the caller, which alone has the call again. There
    /// always is an end; for the compiler's sake an unknown outcome stands for a missing one.
    func takeEnd() -> CallEnd { end.take() ?? .failed(.cancelled(wasSent: true)) }

    /// Makes the message ready to be sent again, if a channel has it. Inlined, because that is hardly ever so.
    @inline(__always)
    func writeAgain() {
        guard let given else { return }
        given.withUnsafeBytes { message.append($0) }
        self.given = nil
    }

    /// Starts the time of the call.
    /// - Parameter timeout: in nanoseconds.
    func begin(at now: Instant, _ timeout: Int64) {
        deadline = min(now.advanced(byNanoseconds: timeout), deadline)
    }

    func reset() {
        isOver.store(false, ordering: .relaxed)
        message.removeAll()
        if given != nil { given = nil }
        if metadata != nil { metadata = nil }
        deadline = .distantFuture
        persistence = .waits
        mayHaveRun = false
        id = nil
        waiter = nil
        end = nil
        if origin.task != 0 { origin = CallOrigin() }
        isCancelled = false
        if named != nil { named = nil }
        if target != nil { target = nil }
        if listed != nil { listed = nil }
    }
}

/// Where a call comes from.
struct CallOrigin {
    /// The task that waits; 0 if none does.
    var task = 0
    var scope: CallScope?
    /// The request inside which the call is made, if the other end must know.
    var place: CallPlace?
}

// MARK: as the table of calls knows it

extension OutgoingCall {
    /// The session outside of which the call means nothing; nil if it is any session.
    var boundSession: SessionObjects? { target ?? named?.session }

    var handle: CallHandle { CallHandle(word: UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) }

    /// The call with this handle, not retained. Touch it only under the requester's lock, and only until it has left the table.
    /// Its caller keeps it until then.
    static func with(_ handle: CallHandle) -> Unmanaged<OutgoingCall>? {
        UnsafeRawPointer(bitPattern: handle.word).map { .fromOpaque($0) }
    }
}

#if KNOWN_RUNTIME && arch(x86_64) && canImport(Glibc)
    extension OutgoingCall {
        /// Makes the watch that tells a requester when the task of a call's caller is cancelled.
        fileprivate static func cancellationWatch() -> CancellationWatch {
            CancellationWatch { requester, call in
                guard let requester, let call else { return }
                let waiting = Unmanaged<OutgoingCall>.fromOpaque(call).takeUnretainedValue()
                Unmanaged<Requester>.fromOpaque(requester).takeUnretainedValue().cancel(waiting)
            }
        }
    }
#endif

// MARK: how a call ends

/// A caller that waits for the end of its call, which it then reads from the call. The code that ends the call takes the waiter
/// out under the requester's lock and resumes it outside: exactly once, because only one event can have taken it.
typealias Waiter = UnsafeContinuation<Void, Never>

/// How a call ended, as its caller is told. Most calls end with a result; the other cases are indirect to keep this small.
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
    /// The number of the call.
    let number: Int64
    /// Nil once it has been moved into the call.
    var end: CallEnd?
    /// The objects that it lists; nil if it lists none.
    var objects: NamedObjects?
    /// The caller; nil until the call has been found.
    var waiter: Waiter?
}
