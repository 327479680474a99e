// Stories of objects by reference, one for each seed. A failure names the seed that brings it back:
//
//     REMOTEPROXY_SEED=17 swift test --filter "Stories of references"

import Foundation
import RPCSockets
import RPCWire
import TestSupport
import Testing

@Suite struct `Stories of references` {
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    private static let seed = number("REMOTEPROXY_SEED")
    private static let count = number("REMOTEPROXY_INTERLEAVINGS") ?? 1_000
    private static let first = number("REMOTEPROXY_FIRST_SEED") ?? 0
    /// Goes on beyond `count` until so much time is over.
    private static let seconds = number("REMOTEPROXY_INTERLEAVING_SECONDS") ?? 0

    @Test func `leave nothing behind, and take nothing away that is needed`() async throws {
        let result = try await handedOver { answer in
            Thread.detachNewThread {
                let end = MonotonicClock.now.advanced(by: .seconds(Self.seconds))
                var (stories, steps) = (0, 0)
                while stories < (Self.seed == nil ? Self.count : 1) || MonotonicClock.now < end {
                    let seed = Self.seed ?? Self.first + stories
                    let story = ReferenceStory(seed: UInt64(seed))
                    let faults = story.play()
                    stories += 1
                    steps += story.steps
                    if Self.seed != nil { print(story.trace.joined(separator: "\n")) }
                    if !faults.isEmpty {
                        return answer("REMOTEPROXY_SEED=\(seed): \(faults.joined(separator: "; "))")
                    }
                }
                print("references: \(stories) stories, \(steps) steps")
                answer("")
            }
        }
        #expect(result == "")
    }
}
