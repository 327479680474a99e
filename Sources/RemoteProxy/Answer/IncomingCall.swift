// One call as the answering code sees it: the object, the arguments as text, and the place for the result.

import JSONCodec
import RPCWire

/// A call on its way through its object.
struct IncomingCall {
    // None of these is retained. The code that has the call answered keeps the worker and the object until it has been. The
    // worker's request keeps the text until the arguments have been read.
    private(set) var params: UnsafeRawBufferPointer
    private let worker: Unmanaged<Worker>
    private let object: Unmanaged<ExportedObject>

    /// - Parameter worker: keeps the memory of the arguments.
    init(to object: ExportedObject, params: UnsafeRawBufferPointer, on worker: Worker) {
        self.params = params
        self.worker = .passUnretained(worker)
        self.object = .passUnretained(object)
    }

    // The caller of these two guarantees the type: a method is found in the index of its object, and an `Exported` has the index of
    // its own service. The worker's request keeps the object.

    /// The object, as `Exported` has it.
    func service<Service: Sendable>(_ type: Service.Type) -> Service {
        object._withUnsafeGuaranteedRef { unsafeDowncast($0, to: Exported<Service>.self).service }
    }

    /// The layers around the object; nil if there are none.
    func chain<Service: Sendable>(_ type: Service.Type) -> (any Subject<Service>)? {
        object._withUnsafeGuaranteedRef { unsafeDowncast($0, to: Exported<Service>.self).chain }
    }

    /// Reads all arguments. Call it only once: it releases their text, since the object may take any time.
    func arguments<Arguments>(_ coding: _ArgumentCoding<Arguments>, of signature: MethodSignature) throws -> Arguments {
        var reader = try _ArgumentReader.over(params, of: signature, in: context)
        let arguments = try coding.read(&reader)
        try reader.readEnd()
        argumentsAreRead()
        return arguments
    }

    /// Of the message with the arguments, and of the answer.
    private var context: CodingContext { worker._withUnsafeGuaranteedRef { .passUnretained($0) } }

    private func argumentsAreRead() { worker._withUnsafeGuaranteedRef { $0.place.argumentsAreRead() } }

    /// Encodes the result at the end of the worker's output.
    func answer<Result>(_ result: Result, _ coding: _ResultCoding<Result>) throws {
        do {
            try worker._withUnsafeGuaranteedRef { try coding.write(result, $0.output, context) }
        } catch {
            throw UnencodableResult(error: error)
        }
    }

    /// Called when the call has its answer. Returns true when this value has become the next call of the same method, which
    /// must be answered now. That saves the way back to the worker and here, which costs as much as the rest of a small call.
    mutating func advanceToNextCall() throws -> Bool {
        guard let next = try worker._withUnsafeGuaranteedRef({ try $0.goesOn() }) else { return false }
        params = next
        return true
    }

    /// Takes the object for the caller, and answers with a reference to it.
    func hold(for lease: Duration) async throws {
        try answer(try await object.takeUnretainedValue().held(for: lease))
    }

    private func answer<Proxy: ServiceProxy>(_ proxy: Proxy) throws {
        try answer(Reference<Proxy>(proxy.asService), .codable)
    }

    /// Writes `null` as the result of a post, which a peer may send with an id.
    func answerNothing() { worker._withUnsafeGuaranteedRef { $0.output.append("null") } }
}

/// Thrown in place of running a call that was told to stop while it waited.
struct NeverBegan: Error {}

extension Error {
    /// Whether the subject was never called, so that the error tells nothing of it.
    var isBeforeSubject: Bool { self is NeverBegan || self is ArgumentFault }
}
