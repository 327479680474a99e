// One result as a cache holds it: with its types, and with the arguments it is the result for.

import JSONCodec
import RPCWire

/// Its types are known to those who ask for it only.
protocol CachedResult: AnyObject, Sendable {
    var key: CacheKey { get }
    /// For the file.
    func json() throws -> Bytes
}

final class KnownResult<Arguments: MethodArguments, Result: Codable & Sendable>: CachedResult {
    let method: Int
    let arguments: Arguments
    let value: Result

    init(_ value: Result, of method: Int, _ arguments: Arguments) {
        self.method = method
        self.arguments = arguments
        self.value = value
    }

    var key: CacheKey { CacheKey(method: method, arguments: arguments) }

    func isResult(of method: Int, _ arguments: Arguments) -> Bool {
        self.method == method && self.arguments == arguments
    }

    func json() throws -> Bytes {
        let output = JSONOutput()
        try output.encode(value)
        return Bytes(copying: output.bytes)
    }
}
