// One result in memory: with its types, and with the method and arguments that it is the result of.

import JSONCodec

/// What results are told apart by.
struct CacheKey: Sendable, Hashable {
    /// The index in the list of methods that are cached.
    let method: Int
    let arguments: any Sendable & Hashable

    static func == (one: CacheKey, other: CacheKey) -> Bool {
        one.method == other.method && AnyHashable(one.arguments) == AnyHashable(other.arguments)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(method)
        hasher.combine(arguments)
    }

    /// Where a result stands in the table. Two keys may have the same place, though hardly ever.
    static func place(_ method: Int, _ arguments: some MethodArguments) -> Int {
        var hasher = Hasher()
        hasher.combine(method)
        hasher.combine(arguments)
        return hasher.finalize()
    }
}

/// A result whose types only the calls know that ask for it.
protocol CachedResult: AnyObject, Sendable {
    var method: Int { get }
    var place: Int { get }
    func isResult(of key: CacheKey) -> Bool
    /// What the file calls the arguments, and the value.
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

    var place: Int { CacheKey.place(method, arguments) }

    func isResult(of method: Int, _ arguments: Arguments) -> Bool {
        self.method == method && self.arguments == arguments
    }

    func isResult(of key: CacheKey) -> Bool {
        (key.arguments as? Arguments).map { isResult(of: key.method, $0) } ?? false
    }

    func json() throws -> (arguments: String, value: String) {
        let output = JSONOutput()
        try output.encode(value)
        return (try arguments.canonicalJSON, String(decoding: output.bytes, as: UTF8.self))
    }
}
