// What the other end asks besides calls: `rpc.hold`, which is answered when the object is the caller's, `rpc.release`, and
// `rpc.supports`.

import JSONCodec
import RPCWire

extension HeldObjects {
    var begin: _ExportedMethod {
        _ExportedMethod(SystemMethod.hold, shape: .call) { call in
            let request = try HoldRequest(of: SystemMethod.hold, call.params)
            // The name is kept for as long as the hold.
            guard request.name.utf8.count <= 64, request.name.hasPrefix("~"), !request.name.contains("]") else {
                throw Self.nameOfHold
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

// The errors of holds.
extension HeldObjects {
    static let nameOfHold = RPCError(
        .invalidArguments,
        "rpc.hold was called with a wrong name: it begins with '~', has no ']', is at most 64 bytes long and not in use",
        outcome: .notExecuted)

    static func noSuchObject(_ object: String, _ exports: Exports) -> RPCError {
        RPCError(.unimplemented, "there is no object \(object); \(exports.listing)", outcome: .notExecuted)
    }

    static func tooManyHolds(_ limit: Int) -> RPCError {
        RPCError(.busy, "the session holds \(limit) objects already (maximumHolds)", outcome: .notExecuted)
    }
}

/// `rpc.supports` is a method like any other, so that it may wait for an answer from further on: a gateway passes the question
/// to the server behind it.
struct SupportsQuestion: MethodArguments {
    /// `Service.method`, or `Service[name].method`.
    let method: String

    init(from reader: inout ArgumentReader) throws { method = try reader.next("method") }

    func write(to writer: inout ArgumentWriter) throws { try writer.write(method) }
}

extension _ExportedMethod {
    static func supports(in exports: Exports) -> _ExportedMethod {
        let signature = MethodSignature(
            service: "rpc", name: "supports", parameters: [.init("method", "String")], result: "Bool", shape: .call,
            effect: .reads)
        return _ExportedMethod(
            signature: signature, service: ServiceDescription(signature.service)
        ) { call in
            let question = try call.arguments(SupportsQuestion.self)
            try call.answer(await exports.method(named: Bytes(question.method))?.supports() ?? false)
        }
    }
}
