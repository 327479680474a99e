// A service whose arguments a cache has to tell apart in every way there is.

import RPCWire
import RemoteProxy
import Synchronization

/// Compared by itself, and counts how often it is put into JSON. All have the same hash, the worst there is.
struct Folder: Codable, Sendable, Hashable {
    private static let count = Atomic(0)
    static var encodings: Int { count.load(ordering: .relaxed) }

    let name: String

    init(_ name: String) { self.name = name }

    static func == (one: Folder, other: Folder) -> Bool { one.name.lowercased() == other.name.lowercased() }
    func hash(into hasher: inout Hasher) {}
    func encode(to encoder: any Encoder) throws {
        Self.count.add(1, ordering: .relaxed)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
    }
}

/// Has neither `==` nor a hash.
struct Paper: Codable, Sendable {
    var words: [String: Int] = [:]
    var weight = 1.0
}

@Service
protocol Cabinet: Sendable {
    @ReadOnly func look(_ folder: Folder) async throws -> Folder
    @ReadOnly func read(_ paper: Paper, _ line: Int) async throws -> String
    @ReadOnly func weigh(_ weight: Double) async throws -> Int
    @ReadOnly func weighAgain(_ weight: Double) async throws -> Int
    @ReadOnly func compare(_ one: String, _ two: [String], _ three: Set<Int>?) async throws -> Int
}

/// Answers with how many calls there have been.
final class CountingCabinet: Cabinet {
    private let count = Atomic(0)
    var looks: Int { count.load(ordering: .relaxed) }
    private func called() -> Int { count.add(1, ordering: .relaxed).newValue }

    func look(_ folder: Folder) async throws -> Folder { Folder("\(folder.name)\(called())") }
    func read(_ paper: Paper, _ line: Int) async throws -> String { "\(called())" }
    func weigh(_ weight: Double) async throws -> Int { called() }
    func weighAgain(_ weight: Double) async throws -> Int { called() }
    func compare(_ one: String, _ two: [String], _ three: Set<Int>?) async throws -> Int { called() }
}
