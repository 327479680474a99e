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
            var text = try call.arguments(argument, of: signature)
            let found = text.withUTF8 { bytes in
                let name = WireName(UnsafeRawBufferPointer(bytes))
                return exports.method(named: name)
                    ?? object(name).flatMap { object in object.index.method(named: name.method).map { (object, $0) } }
            }
            guard let (object, method) = found else { return try call.answer(false, .codable) }
            try call.answer(await object.supports(method.signature), .codable)
        }
    }
}
