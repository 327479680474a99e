// One call as the code that answers it sees it: the object, the arguments as text, and where the result goes. Inlined into
// the module of the protocol, where the types are known: generic code works through metadata, and an async function in
// between costs a frame and a look at where its task belongs.

import JSONCodec
import RPCWire

/// A call on its way through the object that it is for. Opaque outside the library.
public struct _IncomingCall {
    // None of them counted: whoever has the call answered keeps all three until it has been.
    @usableFromInline let params: UnsafeRawBufferPointer
    private let reply: Unmanaged<JSONOutput>
    @usableFromInline let object: Unmanaged<AnyObject>

    init(of method: _ExportedMethod, params: UnsafeRawBufferPointer, output: JSONOutput) {
        self.params = params
        reply = .passUnretained(output)
        object = .passUnretained(method.object)
    }

    /// The result is written at its end.
    var output: JSONOutput { reply._withUnsafeGuaranteedRef { $0 } }

    /// The object that the method was exported with, which has this type.
    @inlinable
    func service<Service: Sendable>(_ type: Service.Type) -> Service {
        object._withUnsafeGuaranteedRef { unsafeDowncast($0, to: _ExportedObject<Service>.self).service }
    }

    /// Reads the arguments, all of them.
    @inlinable
    func arguments<Arguments: MethodArguments>(_ type: Arguments.Type) throws -> Arguments {
        var reader = try ArgumentReader(params)
        let arguments = try Arguments(from: &reader)
        try reader.finish()
        return arguments
    }

    @usableFromInline
    func answer(_ result: some Encodable) throws {
        do { try output.encode(result) } catch { throw UnencodableResult(error: error) }
    }

    /// For the peer that has called a post with an id and waits for an answer.
    @usableFromInline
    func answerNothing() { output.append("null") }

    @usableFromInline
    func thrown(_ error: any Error) -> any Error { error.thrownByObject }
}

/// An object behind a reference, whatever it is. Opaque outside the library.
public final class _ExportedObject<Service: Sendable>: Sendable {
    @usableFromInline let service: Service

    init(_ service: Service) { self.service = service }
}

/// Never listed in `@Service(errors:)`, so that its text, which is the subject's own, goes into the log and nowhere else.
struct UnencodableResult: Error {
    var method = ""
    let error: any Error
}
