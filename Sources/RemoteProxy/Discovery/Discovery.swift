// The answer to `rpc.discover`: an OpenRPC document. It is made from the present exports, so it is never out of date.

import JSONCodec
import RPCWire

enum Discovery {
    static func document(
        of services: [(object: String?, signatures: [MethodSignature])], in program: Program
    ) -> Bytes {
        let methods = services.flatMap { service in
            service.signatures.map { OpenRPCMethod($0, object: service.object) }
        }
        let document = OpenRPCDocument(info: program, methods: methods)
        // The document has only strings and Booleans, which always encode.
        let output = JSONOutput()
        try? output.encode(document)
        return Bytes(copying: output.bytes)
    }
}

/// The version of this library: the only place that has it.
package let libraryVersion = "0.2.0"

/// The program that exports, as OpenRPC's `info` describes it.
package struct Program: Encodable, Sendable {
    var title: String
    var version: String

    /// - Parameters:
    ///   - title: nil for the name of the executable.
    ///   - version: nil for the version of this library, since OpenRPC requires a text.
    package init(title: String? = nil, version: String? = nil) {
        self.title = title ?? CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "unnamed"
        self.version = version ?? libraryVersion
    }
}

private struct OpenRPCDocument: Encodable {
    var openrpc = "1.3.2"
    var info: Program
    var methods: [OpenRPCMethod]
}

/// A method without a `result` is a notification, which OpenRPC allows since 1.3.
private struct OpenRPCMethod: Encodable {
    struct Content: Encodable {
        var name: String
        var required: Bool?
        var schema: JSONSchema
    }

    var name: String
    var paramStructure = "either"
    var params: [Content]
    var result: Content?

    init(_ signature: MethodSignature, object: String?) {
        name = signature.wireName(on: object)
        params = signature.parameters.map { parameter in
            let schema = JSONSchema(swiftType: parameter.type)
            return Content(name: parameter.name, required: !schema.isOptional, schema: schema)
        }
        if signature.shape == .call {
            result = Content(name: "result", schema: JSONSchema(swiftType: signature.result ?? "Void"))
        }
    }
}
