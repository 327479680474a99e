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
        _ method: Int, _ arguments: Arguments, _ coding: _ArgumentCoding<Arguments>, sentFor name: String? = nil
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
    /// How many bytes it counts for in memory.
    var bytes: Int { get }
    /// Whether the server has room for it.
    var hasRoom: Bool { get }
    /// Encodes the arguments, which name the result in the file, and the value.
    func json() throws -> (arguments: String, value: String)
}

final class KnownResult<Arguments: Sendable, Result: Sendable>: CachedResult {
    let key: CacheKey
    let value: Result
    let bytes: Int
    private let arguments: Arguments
    private let coding: _ArgumentCoding<Arguments>
    private let results: _ResultCoding<Result>
    private let traffic: Traffic?

    /// - Parameter caller: the peer that has asked for the result. Its server counts the result for as long as it exists. Nil if
    ///   this process has asked.
    init(
        _ value: Result, for key: CacheKey, _ arguments: Arguments, _ coding: _ArgumentCoding<Arguments>,
        _ results: _ResultCoding<Result>, askedBy caller: Caller? = nil
    ) {
        (self.key, self.value) = (key, value)
        (self.arguments, self.coding, self.results) = (arguments, coding, results)
        traffic = caller?.requester.account.traffic
        bytes = traffic == nil ? 0 : sizeInMemory(of: arguments, coding) + sizeInMemory(of: value, results)
        traffic?.keeps(bytes)
    }

    deinit { traffic?.keeps(-bytes) }

    /// Caches belong to no session, which could pay for them. So they take nothing from half of the bytes.
    var hasRoom: Bool { !(traffic?.isHalfFull ?? false) }

    func json() throws -> (arguments: String, value: String) {
        let output = JSONOutput()
        try results.write(value, output, .none)
        return (try coding.canonicalJSON(of: arguments), String(decoding: output.bytes, as: UTF8.self))
    }
}
