// An object on the main actor, for a program that does nothing but serve.

import RemoteProxy

@Service
protocol Board: Sendable {
    func show(_ line: String) async
    @ReadOnly func lines() async throws -> [String]
}

@MainActor
final class WallBoard: Board {
    private var shown: [String] = []

    nonisolated init() {}

    func show(_ line: String) { shown.append(line) }
    func lines() -> [String] { shown }
}
