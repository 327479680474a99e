// What results are told apart by: the method and the arguments it was called with.

import JSONCodec

struct CacheKey: Hashable, Sendable {
    let service: String
    let method: String
    /// As canonical JSON; empty when there are none.
    let arguments: String

    init(service: String, method: String, arguments: String) {
        self.service = service
        self.method = method
        self.arguments = arguments
    }

    /// A method without arguments is its own key; nothing is encoded.
    ///
    /// Sets, and dictionaries whose keys are neither strings nor integers, are encoded in no particular order: each order
    /// is a key of its own.
    init<Arguments: MethodArguments>(_ signature: MethodSignature, _ arguments: Arguments) throws {
        let text = Arguments.self == NoArguments.self ? "" : try Self.text(of: arguments)
        self.init(service: signature.service, method: signature.name, arguments: text)
    }

    private static func text(of arguments: some MethodArguments) throws -> String {
        let output = JSONOutput()
        var writer = ArgumentWriter(output)
        try arguments.write(to: &writer)
        writer.finish()
        return try CanonicalJSON.text(of: output.bytes)
    }
}
