// The messages about holds: `rpc.hold`, which is answered when the object is the caller's, and `rpc.release`.

import JSONCodec
import RPCWire

extension HeldObjects {
    var begin: _ExportedMethod {
        _ExportedMethod(SystemMethod.hold, shape: .call) { params, output in
            let request: HoldRequest = try self.decode(params, of: SystemMethod.hold)
            // The name is kept for as long as the hold.
            guard request.name.hasPrefix("~"), request.name.utf8.count <= 64, !request.name.contains("]") else {
                throw RPCError.nameOfHold
            }
            try await self.hold(request)
            output.append("null")
        }
    }

    var end: _ExportedMethod {
        _ExportedMethod(SystemMethod.release, shape: .post) { params, output in
            self.release(try self.decode(params, of: SystemMethod.release))
            output.append("null")
        }
    }

    private func decode<Request: Decodable>(_ params: Bytes?, of method: String) throws -> Request {
        do {
            return try (params ?? Bytes("{}")).withUnsafeBytes { try decodeJSON(Request.self, from: $0) }
        } catch {
            let reason = (error as? DecodingError)?.explanation ?? "\(error)"
            throw RPCError(
                .invalidArguments, "\(method) was called with wrong parameters: \(reason)", outcome: .notExecuted)
        }
    }
}

extension _ExportedMethod {
    fileprivate convenience init(
        _ name: String, shape: MethodSignature.Shape,
        run: @escaping @Sendable (_ params: Bytes?, _ output: JSONOutput) async throws -> Void
    ) {
        self.init(
            signature: MethodSignature(
                service: "", name: name, parameters: [], result: nil, shape: shape, effect: .changes),
            service: ServiceDescription(name), supports: { true }, run: run)
    }

    /// Any method of an object that is held no more.
    static func ended(_ name: String) -> _ExportedMethod {
        _ExportedMethod(name, shape: .call) { _, _ in throw RPCError.holdEnded }
    }
}

extension Bytes {
    /// Whether it may be a name for `HeldObjects`, told without a string.
    var mayNameHold: Bool {
        withUnsafeBytes { bytes in
            bytes.starts(with: "rpc.".utf8) || zip(bytes, bytes.dropFirst()).contains { $0 == 0x5B && $1 == 0x7E }
        }
    }
}
