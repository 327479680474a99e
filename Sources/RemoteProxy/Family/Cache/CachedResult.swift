// One result in memory, with its types, its method and its arguments.

import JSONCodec

/// Identifies one result: a method with its arguments.
struct CacheKey: Sendable, Hashable {
    /// The index of the method in the list of cached methods.
    let method: Int
    let arguments: any Sendable & Hashable
    /// The result's place in the table. Two keys may have the same place, but rarely do.
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

/// A result whose types are hidden. Only the calls that ask for it know them.
protocol CachedResult: AnyObject, Sendable {
    var method: Int { get }
    var key: CacheKey { get }
    /// Encodes the arguments, which name the result in the file, and the value.
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
