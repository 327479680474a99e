// An object on the main actor, for a program that does nothing but serve.

public import RemoteProxy

@Service
public protocol Board: Sendable {
    func show(_ line: String) async
    @ReadOnly func lines() async throws -> [String]
}

@MainActor
public final class WallBoard: Board {
    private var shown: [String] = []

    nonisolated public init() {}

    public func show(_ line: String) { shown.append(line) }
    public func lines() -> [String] { shown }
}
