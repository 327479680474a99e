// A terminal in the place of a screen: shows a list of contents, and remembers how long the user looked at nothing.

import RPCSockets
import RPCWire

final class ContentsScreen: Sendable {
    /// What still counts as at once on a machine that has other things to do; the server takes longer.
    private static let glance = Duration.milliseconds(350)

    private let stage: Stage
    private let waits = Lock<[(occasion: String, wait: Duration)]>([])

    init(stage: Stage) { self.stage = stage }

    /// Opens the list. Unless it is known to take time, it must be there at once.
    func opens(
        _ occasion: String, _ contents: any Contents, showing expected: [String], after delay: Duration? = nil
    ) async throws {
        let start = ContinuousClock.now
        let chapters = try await contents.chapters()
        let wait = start.duration(to: .now)
        stage.says("┌ Contents, \(occasion): \(wait.text)")
        for (index, chapter) in chapters.enumerated() { stage.says("│ \(index + 1). \(chapter)") }
        guard chapters == expected else { throw Difference("\(occasion): the list shows \(spoken(chapters))") }
        if let delay {
            guard wait >= delay else { throw Difference("\(occasion): nobody waited for the server") }
        } else {
            guard wait < Self.glance else { throw Difference("\(occasion): the user waited \(wait.text)") }
        }
        waits.withLock { $0.append((occasion, wait)) }
    }

    /// What the user felt, all together.
    func summary() {
        stage.says("The wait the user felt:")
        for (occasion, wait) in waits.withLock({ $0 }) {
            let space = String(repeating: " ", count: max(1, 30 - occasion.count))
            stage.says("  \(occasion)\(space)\(wait.text)")
        }
    }
}
