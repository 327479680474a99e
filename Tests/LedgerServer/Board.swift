// An object on the main actor, for a program that does nothing but serve.

import Foundation
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

    /// Prints it too, as an object may that does not know what standard output is used for.
    func show(_ line: String) {
        shown.append(line)
        print("the board shows: \(line)")
        fflush(nil)
    }

    func lines() -> [String] { shown }
}
