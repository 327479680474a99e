// A counted object in random races, here and across connections that break: made when the first comes, told once when the
// last has left, the same for as long as somebody holds it, and never used after that. A failure names its seed.

import TestSupport
import Testing

@Suite(.computesForLong) struct `Races for a counted object` {
    private static let parts: UInt64 = 4

    @Test(arguments: 0..<parts) func `it is there exactly while somebody holds it, whatever breaks`(_ part: UInt64) {
        for seed in stride(from: part, to: 400, by: Int(Self.parts)) {
            let faults = CountedStory(seed: seed).play()
            guard faults.isEmpty else {
                Issue.record("seed \(seed): \(faults.joined(separator: "; "))")
                return
            }
        }
    }
}
