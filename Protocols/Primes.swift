public import RemoteProxy

/// Counts prime numbers, with a table that is costly to make.
@Service
public protocol Primes: Sendable {
    /// How many primes there are up to a number, or up to the end of the table.
    func count(upTo number: Int) async throws -> Int
    /// How often the server's process has made its table.
    func tablesMade() async throws -> Int
}
