// Everything that can end a call, set against everything else in random order: whatever the order, each call ends exactly
// once, gets only its own answer, runs once at most, and says truly what became of the work; and as long as the server
// lives and the client has time, nothing is lost. A failure names the seed that brings it back:
//
//     REMOTEPROXY_SEED=17 swift test --filter Interleavings

import Foundation
import RPCSockets
import RPCWire
import TestSupport
import Testing

@Suite struct `Interleavings` {
    /// How many there are and from where on.
    private struct Plan: Sendable {
        private static func number(_ name: String) -> Int? {
            ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
        }

        /// One alone, that a failure has named.
        static let seed = number("REMOTEPROXY_SEED")
        /// As many in all, unless `REMOTEPROXY_INTERLEAVINGS` says otherwise: more by `.ci/faults`, fewer where every step
        /// is watched and slow.
        static let count = max(1_000, number("REMOTEPROXY_INTERLEAVINGS") ?? 2_000)
        /// Where the seeds begin.
        static let first = number("REMOTEPROXY_FIRST_SEED") ?? 0
        /// Goes on beyond that until so much time is over.
        static let seconds = number("REMOTEPROXY_INTERLEAVING_SECONDS") ?? 0
        /// Each part runs by itself, so that they spread over the processors.
        static let parts = 2
    }

    private struct Result: Sendable {
        var stories = 0
        var steps = 0
        var fault: String?
    }

    @Test(arguments: 0..<(Plan.seed == nil ? Plan.parts : 1))
    func `every call ends exactly once and truly, and nothing grows, step by step`(_ part: Int) async throws {
        // On a thread of its own: the few that tasks share are for tests that have to be in time.
        let result = try await handedOver { answer in
            Thread.detachNewThread { answer(Plan.seed.map(Self.playOne) ?? Self.play(part)) }
        }
        let seeds = Plan.seed.map { "seed \($0)" } ?? "seeds from \(Plan.first + part), every \(Plan.parts)."
        print("interleavings: \(result.stories) stories, \(result.steps) steps, \(seeds)")
        if let fault = result.fault { Issue.record("\(fault)") }
    }

    private static func play(_ part: Int) -> Result {
        let end = MonotonicClock.now.advanced(by: .seconds(Plan.seconds))
        var result = Result()
        while result.fault == nil {
            guard result.stories < Plan.count / Plan.parts || MonotonicClock.now < end else { break }
            let seed = Plan.first + part + result.stories * Plan.parts
            let story = InterleavingStory(seed: UInt64(seed))
            let faults = story.play()
            result.stories += 1
            result.steps += story.steps
            if !faults.isEmpty { result.fault = "REMOTEPROXY_SEED=\(seed): \(faults.joined(separator: "; "))" }
        }
        return result
    }

    /// One, with all that happens in it.
    private static func playOne(_ seed: Int) -> Result {
        let story = InterleavingStory(seed: UInt64(seed))
        let faults = story.play()
        print(story.trace.joined(separator: "\n"))
        return Result(stories: 1, steps: story.steps, fault: faults.isEmpty ? nil : faults.joined(separator: "; "))
    }

    @Test func `a seed brings back the same story, step by step`() async throws {
        let difference = try await handedOver { answer in
            Thread.detachNewThread {
                for seed in UInt64(0)..<100 {
                    let (first, second) = (InterleavingStory(seed: seed), InterleavingStory(seed: seed))
                    _ = (first.play(), second.play())
                    guard first.trace == second.trace, first.steps == second.steps else {
                        let place = zip(first.trace, second.trace).enumerated().first { $0.element.0 != $0.element.1 }
                        return answer("seed \(seed): \(first.steps) and \(second.steps) steps, \(place as Any)")
                    }
                }
                answer("")
            }
        }
        #expect(difference == "")
    }
}
