// The methods of the protocol that wait for an object, and so are run as methods of objects are.

import JSONCodec
import RPCWire

/// The parameters of `rpc.hold`.
struct HoldRequest: Codable {
    /// The object to hold: `Ledger`, `Ledger[visits]` or `Ledger[#5]`.
    var object: String
    /// In milliseconds.
    var lease: Int64
    /// What ends of releases before objects by reference say besides.
    var name: String?
}

extension ExportedMethod {
    /// `rpc.hold`, which is asked of the object to hold. The answer refers to that object as the caller has it, until the caller gives
    /// it back.
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
}

extension ExportedMethod {
    /// `rpc.supports`. It is a method like any other, because it may wait for an answer from another server: a gateway passes the
    /// question on to the server behind it. Its argument is `Service.method`, or `Service[name].method`.
    /// - Parameter object: finds an object by reference.
    static func supports(
        in exports: Exports, orOf object: @escaping @Sendable (_ handle: Int64) -> ExportedObject?
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
        _ name: String, _ object: (Int64) -> ExportedObject?
    ) -> (ExportedObject, ExportedMethod)? {
        var text = name
        return text.withUTF8 { bytes in
            let name = WireName(UnsafeRawBufferPointer(bytes))
            guard let object = name.handle.flatMap(object), let method = object.index.method(named: name.method) else {
                return nil
            }
            return (object, method)
        }
    }
}
