// Objects that are handed out, taken in and counted, so that after a fault it can be told whether any was kept or lost.

public import RemoteProxy

/// What is handed around.
@Service
public protocol Piece: Sendable {
    func number() async throws -> Int
    /// Asks the other one.
    func number(of other: any Piece) async throws -> Int
}

/// What the fault runs with objects by reference call.
@Service
public protocol Depot: Sendable {
    /// New pieces, numbered one after the other.
    func handOut(_ count: Int) async throws -> [any Piece]
    /// Keeps them until `drop`.
    func keep(_ pieces: [any Piece]) async throws
    /// Keeps them as well, if the post arrives.
    func note(_ pieces: [any Piece])
    func drop() async throws
    /// The numbers of those that are its own, and -1 for all others.
    func numbers(_ pieces: [any Piece]) async throws -> [Int]
    func echo(_ pieces: [any Piece]) async throws -> [any Piece]
    /// Takes so many pieces from the next depot and keeps them, and gives it as many of its own to keep.
    func exchange(_ count: Int) async throws
    /// How many of its own pieces there are, and how many it keeps.
    func counts() async throws -> [Int]
}
