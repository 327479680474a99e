// The answering side of `rpc.supports`: a method like any other, so that it may wait for an answer from further on. A
// gateway passes the question to the server behind it.

import JSONCodec
import RPCWire

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
