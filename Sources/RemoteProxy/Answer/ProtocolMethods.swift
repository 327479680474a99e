// The protocol's own methods that may wait, and so run like methods of objects.

import JSONCodec
import RPCWire

extension ExportedMethod {
    /// `rpc.hold`: waits until the object is free, and answers with a reference under which the caller calls it.
    static func hold(for lease: Duration) -> ExportedMethod {
        ExportedMethod(signature: .hold(of: ""), service: _ServiceDescription(SystemMethod.hold)) { call in
            do {
                try await call.hold(for: lease)
            } catch let error as CancellationError {
                // Cancelled while it waited for its turn, so nothing is held.
                throw ChainFailure(error: error, outcome: .notExecuted)
            }
        }
    }

    /// `rpc.supports`. It is a method like any other, because it may wait for an answer from another server: a gateway passes the
    /// question on to the server behind it. Its argument is `Service.method`,
    /// `Service[name].method` or `Service[#5].method`.
    /// - Parameter object: finds an object by reference.
    static func supports(
        in exports: Exports, orOf object: @escaping @Sendable (WireName) -> ExportedObject?
    ) -> ExportedMethod {
        let signature = MethodSignature(
            service: "rpc", name: "supports", parameters: [.init("method", "String")], result: "Bool", shape: .call,
            effect: .readOnly)
        let argument = _ArgumentCoding<String>(read: { try $0.next() }, write: { try $1.write($0) })
        return ExportedMethod(
            signature: signature, service: _ServiceDescription(signature.service)
        ) { call in
            let method = try call.arguments(argument, of: signature)
            guard let (object, found) = exports.method(named: method) ?? referred(method, object) else {
                return try call.answer(false, .codable)
            }
            try call.answer(await object.supports(found.signature), .codable)
        }
    }

    private static func referred(
        _ name: String, _ object: (WireName) -> ExportedObject?
    ) -> (ExportedObject, ExportedMethod)? {
        var text = name
        return text.withUTF8 { bytes in
            let name = WireName(UnsafeRawBufferPointer(bytes))
            guard let object = object(name) else { return nil }
            return object.index.method(named: name.method).map { (object, $0) }
        }
    }
}
