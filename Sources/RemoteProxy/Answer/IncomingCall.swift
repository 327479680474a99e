// One call as the code that answers it sees it: the object, the arguments as text, and where the result goes. Inlined into
// the module of the protocol, where the types are known: generic code works through metadata, and an async function in
// between costs a frame and a look at where its task belongs.

import JSONCodec
import RPCWire

/// A call on its way through the object that it is for. Opaque outside the library.
public struct _IncomingCall {
    // None of them counted: the code that has the call answered keeps the worker and the object until it has been, and the
    // worker's request keeps the text until the arguments have been read.
    @usableFromInline private(set) var params: UnsafeRawBufferPointer
    private let worker: Unmanaged<Worker>
    @usableFromInline let object: Unmanaged<AnyObject>

    /// - Parameter worker: keeps the memory of the arguments.
    init(of method: _ExportedMethod, params: UnsafeRawBufferPointer, on worker: Worker) {
        self.params = params
        self.worker = .passUnretained(worker)
        object = .passUnretained(method.object)
    }

    /// The object that the method was exported with, which has this type.
    @inlinable
    func service<Service: Sendable>(_ type: Service.Type) -> Service {
        object._withUnsafeGuaranteedRef { unsafeDowncast($0, to: _ExportedObject<Service>.self).service }
    }

    /// Reads the arguments, all of them and once: their text is let go of, since nothing is known of how long the object
    /// takes.
    @inlinable
    func arguments<Arguments: MethodArguments>(_ type: Arguments.Type) throws -> Arguments {
        var reader = try ArgumentReader(params)
        let arguments = try Arguments(from: &reader)
        try reader.finish()
        argumentsAreRead()
        return arguments
    }

    @usableFromInline
    func argumentsAreRead() { worker._withUnsafeGuaranteedRef { $0.place.argumentsAreRead() } }

    /// The result is written at the end of the worker's output.
    @usableFromInline
    func answer(_ result: some Encodable) throws {
        do {
            try worker._withUnsafeGuaranteedRef { try $0.output.encode(result) }
        } catch {
            throw UnencodableResult(error: error)
        }
    }

    /// The call has its answer. True when it has become another one, of the same method, which waits for its own: then going
    /// back to the worker and coming here again is saved, which costs as much as all the rest of a small call.
    @usableFromInline
    mutating func isFollowed() throws -> Bool {
        guard let next = try worker._withUnsafeGuaranteedRef({ try $0.goesOn() }) else { return false }
        params = next
        return true
    }

    /// For the peer that has called a post with an id and waits for an answer.
    @usableFromInline
    func answerNothing() { worker._withUnsafeGuaranteedRef { $0.output.append("null") } }

    @usableFromInline
    func thrown(_ error: any Error) -> any Error { error.thrownByObject }
}

/// An exported object of any type. Opaque outside the library.
public final class _ExportedObject<Service: Sendable>: Sendable {
    @usableFromInline let service: Service

    init(_ service: Service) { self.service = service }
}

/// Thrown where a call would run that was told to stop while it waited.
struct NeverBegan: Error {}

extension Error {
    /// Whether the subject was never called: then nothing is learned of it.
    var isBeforeSubject: Bool { self is NeverBegan || self is ArgumentFault }
}

/// A result that cannot be encoded. Its text, which is the object's own, goes into the log and nowhere else.
struct UnencodableResult: Error {
    let error: any Error
}
