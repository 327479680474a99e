// What the local proxies are measured with: each shape of a requirement once, doing next to nothing.

import RemoteProxy

/// A service that stays in this process.
@Service
protocol Abacus: Sendable {
    @ReadOnly func add(_ a: Int, _ b: Int) async throws -> Int
    @ReadOnly func total() async throws -> Int
    func note(_ number: Int)
}

/// The real object.
final class WoodenAbacus: Abacus {
    func add(_ a: Int, _ b: Int) async throws -> Int { a &+ b }
    func total() async throws -> Int { 1 }
    func note(_ number: Int) {}
}
