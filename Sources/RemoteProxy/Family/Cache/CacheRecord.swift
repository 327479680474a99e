// One result as a file has it: as JSON, under the names of its service and its method.

import JSONCodec
import RPCWire

struct CacheRecord: Sendable {
    struct Key: Hashable, Sendable {
        let service: String
        let method: String
        /// As canonical JSON; empty when there are none.
        let arguments: String
    }

    let key: Key
    let json: Bytes
    /// When it came from the real object, in nanoseconds of the wall clock.
    var written: Int64
    /// When it was last asked for.
    var used: Int64

    /// What it counts for. The strings' lengths come from this process or from a file that was held in memory.
    var size: Int { key.method.utf8.count + key.arguments.utf8.count + json.count }
}

extension CacheRecord.Key {
    /// Sets, and dictionaries whose keys are neither strings nor integers, are encoded in no particular order: each order
    /// is a key of its own.
    init<Arguments: MethodArguments>(service: String, method: String, _ arguments: Arguments) throws {
        let text = Arguments.self == NoArguments.self ? "" : try Self.text(of: arguments)
        self.init(service: service, method: method, arguments: text)
    }

    private static func text(of arguments: some MethodArguments) throws -> String {
        let output = JSONOutput()
        var writer = ArgumentWriter(output)
        try arguments.write(to: &writer)
        writer.finish()
        return try CanonicalJSON.text(of: output.bytes)
    }
}
