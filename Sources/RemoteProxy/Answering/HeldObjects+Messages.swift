// The messages about holds: `rpc.hold`, which is answered when the object is the caller's, and `rpc.release`.

import JSONCodec
import RPCWire

extension HeldObjects {
    var begin: _ExportedMethod {
        _ExportedMethod(SystemMethod.hold, shape: .call) { call in
            let request = try HoldRequest(of: SystemMethod.hold, call.params)
            // The name is kept for as long as the hold.
            guard request.name.utf8.count <= 64, request.name.hasPrefix("~"), !request.name.contains("]") else {
                throw RPCError.nameOfHold
            }
            do {
                try await self.hold(request)
            } catch let error as CancellationError {
                // In the line: nothing is held.
                throw ChainFailure(error: error, outcome: .notExecuted)
            }
            call.answerNothing()
        }
    }

    var end: _ExportedMethod {
        _ExportedMethod(SystemMethod.release, shape: .post) { call in
            self.release(try ReleaseRequest(of: SystemMethod.release, call.params))
            call.answerNothing()
        }
    }
}

extension _ExportedMethod {
    fileprivate convenience init(
        _ name: String, shape: MethodSignature.Shape,
        answer: @escaping @Sendable (_IncomingCall) async throws -> Void
    ) {
        self.init(
            signature: MethodSignature(
                service: "", name: name, parameters: [], result: nil, shape: shape, effect: .changes),
            service: ServiceDescription(name), answer: answer)
    }

    /// Any method of an object that is held no more.
    static func ended(_ name: String) -> _ExportedMethod {
        _ExportedMethod(name, shape: .call) { _ in throw RPCError.holdEnded }
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
