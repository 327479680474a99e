// One result in memory: with its types, and with the method and arguments that it is the result of.

import JSONCodec

/// A method with its arguments: names one result.
struct CacheKey: Sendable, Hashable {
    /// The index in the list of methods that are cached.
    let method: Int
    let arguments: any Sendable & Hashable
    /// Where the result stands in the table. Two keys rarely have the same place, but they may.
    let place: Int

    init(_ method: Int, _ arguments: some MethodArguments) {
        self.method = method
        self.arguments = arguments
        place = Self.place(method, arguments)
    }

    static func == (one: CacheKey, other: CacheKey) -> Bool {
        one.method == other.method && AnyHashable(one.arguments) == AnyHashable(other.arguments)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(place) }

    static func place(_ method: Int, _ arguments: some MethodArguments) -> Int {
        var hasher = Hasher()
        hasher.combine(method)
        hasher.combine(arguments)
        return hasher.finalize()
    }
}

/// A result without its types, which only the calls know that ask for it.
protocol CachedResult: AnyObject, Sendable {
    var key: CacheKey { get }
    /// The name of the arguments in the file, and the value.
    func json() throws -> (arguments: String, value: String)
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

    var key: CacheKey { CacheKey(method, arguments) }

    func json() throws -> (arguments: String, value: String) {
        let output = JSONOutput()
        try output.encode(value)
        return (try arguments.canonicalJSON, String(decoding: output.bytes, as: UTF8.self))
    }
}
