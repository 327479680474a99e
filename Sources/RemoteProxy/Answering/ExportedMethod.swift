// A method with its types forgotten: what the dispatcher finds under a wire name.

import JSONCodec
import RPCWire
import Synchronization

/// A method bound to a proxy, ready to be run with arguments from the wire. Opaque outside the library. A class,
/// because every request carries one along.
public final class _ExportedMethod: Sendable {
    let signature: MethodSignature
    /// Every request asks.
    let isPost: Bool
    let service: ServiceDescription
    /// Whether there is an object that has it: a subject at the other end of a connection may know none.
    let supports: @Sendable () async throws -> Bool
    /// Decodes the arguments, runs the subject, encodes its result at the end of the output.
    let run: @Sendable (_ params: Bytes?, _ output: JSONOutput) async throws -> Void
    /// Whether it kept its thread for long when it was last called, so that the next call is expected to.
    let keepsThread = Atomic(false)
    /// Whether the log has been told so.
    let isToldOf = Atomic(false)

    init(
        signature: MethodSignature, service: ServiceDescription,
        supports: @escaping @Sendable () async throws -> Bool = { true },
        run: @escaping @Sendable (_ params: Bytes?, _ output: JSONOutput) async throws -> Void
    ) {
        self.signature = signature
        isPost = signature.shape == .post
        self.service = service
        self.supports = supports
        self.run = run
    }
}

extension Method: ServiceMethod {
    /// Calls go to the proxy's subject.
    public func _export(_ proxy: some ServiceProxy<Service>) -> _ExportedMethod {
        let subject = proxy.proxySubject
        // An object that is here needs nobody in between, and a closure that has nothing of a generic type finds its way
        // without asking the runtime what that type is.
        if let object = (subject as? LocalSubject<Service>)?.object {
            let (signature, invoke) = (signature, invoke)
            return _ExportedMethod(signature: signature, service: service) { params, output in
                let arguments = try Arguments(params, of: signature)
                do {
                    try output.write(await invoke(object, arguments), of: signature)
                } catch {
                    throw error.thrownByObject
                }
            }
        }
        return _ExportedMethod(
            signature: signature, service: service, supports: { try await subject.supports(signature) }
        ) { params, output in
            try output.write(await subject.call(self, Arguments(params, of: signature)), of: signature)
        }
    }
}

extension JSONOutput {
    fileprivate func write(_ result: some Encodable, of method: MethodSignature) throws {
        do {
            try encode(result)
        } catch {
            throw UnencodableResult(method: method.wireName, error: error)
        }
    }
}

/// Never listed in `@Service(errors:)`, so that its text, which is the subject's own, goes into the log and nowhere else.
private struct UnencodableResult: Error {
    let method: String
    let error: any Error
}

extension Post: ServiceMethod {
    /// Posts go to the proxy itself, since only the protocol knows which actor they belong to.
    public func _export(_ proxy: some ServiceProxy<Service>) -> _ExportedMethod {
        let object = proxy.asService
        let subject = proxy.proxySubject
        return _ExportedMethod(
            signature: signature, service: service, supports: { try await subject.supports(signature) }
        ) { params, output in
            await deliver(object, try Arguments(params, of: signature))
            // For the peer that has called it with an id and waits for an answer.
            output.append("null")
        }
    }
}

extension MethodArguments {
    init(_ params: Bytes?, of signature: MethodSignature) throws {
        do {
            self = try (params ?? .none).withUnsafeBytes { bytes in
                var reader = try ArgumentReader(bytes)
                let arguments = try Self(from: &reader)
                try reader.finish()
                return arguments
            }
        } catch let fault as ArgumentFault {
            throw RPCError(.invalidArguments, fault.explanation(for: signature), outcome: .notExecuted)
        }
    }
}

extension Bytes {
    fileprivate static let none = Bytes("")
}
