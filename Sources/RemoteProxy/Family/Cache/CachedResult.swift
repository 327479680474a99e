// One result in memory, with its types, its method and its arguments.

import JSONCodec

/// Identifies one result: a method with its arguments.
struct CacheKey: Sendable, Hashable {
    /// The index of the method in the list of cached methods.
    let method: Int
    private let arguments: ArgumentValues
    /// The result's place in the table. Two keys may have the same place, but rarely do.
    let place: Int

    /// Nil if a result for these arguments would never be found again.
    /// - Parameter name: the name of the method if a peer has sent the arguments. Refuses texts that are costly to compare then.
    init?<Arguments>(
        _ method: Int, _ arguments: Arguments, _ coding: ArgumentCoding<Arguments>, sentFor name: String? = nil
    ) throws(RPCError) {
        guard let arguments = try ArgumentValues(arguments, coding, sentFor: name) else { return nil }
        var hasher = Hasher()
        hasher.combine(method)
        hasher.combine(arguments)
        (self.method, self.arguments, place) = (method, arguments, hasher.finalize())
    }

    static func == (one: CacheKey, other: CacheKey) -> Bool {
        one.method == other.method && one.arguments == other.arguments
    }

    func hash(into hasher: inout Hasher) { hasher.combine(place) }
}

/// A result whose types are hidden. Only the calls that ask for it know them.
protocol CachedResult: AnyObject, Sendable {
    var key: CacheKey { get }
    /// Encodes the arguments, which name the result in the file, and the value.
    func json() throws -> (arguments: String, value: String)
}

final class KnownResult<Arguments: Sendable, Result: Codable & Sendable>: CachedResult {
    let key: CacheKey
    let value: Result
    private let arguments: Arguments
    private let coding: ArgumentCoding<Arguments>

    init(_ value: Result, for key: CacheKey, _ arguments: Arguments, _ coding: ArgumentCoding<Arguments>) {
        (self.key, self.value, self.arguments, self.coding) = (key, value, arguments, coding)
    }

    func json() throws -> (arguments: String, value: String) {
        let output = JSONOutput()
        try output.encode(value)
        return (try coding.canonicalJSON(of: arguments), String(decoding: output.bytes, as: UTF8.self))
    }
}
