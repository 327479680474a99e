// Whether the time that a wrong token takes tells how much of it is right. A measurement, so only at full size; the
// same measurement of a comparison that gives up at the first difference shows that it would see it.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

extension FaultRuns {
    @Test(.enabled(if: isFull)) func `the time to compare a token does not tell how much of it is right`() throws {
        let secret = "0123456789abcdefghijklmnopqrstuv"
        let list = try TokenList(parsing: "alice \(secret)\nbob another-token-of-just-this-length")
        let correlation = Self.correlation(secret) { list.entry(for: $0) == nil }
        let naive = Self.correlation(secret) { guess in
            for (left, right) in zip(guess.utf8, secret.utf8) where left != right { return true }
            return false
        }
        print("right prefix and time: correlation \(correlation); of a comparison that gives up early \(naive)")
        #expect(abs(correlation) < 0.05)
        #expect(naive > 0.2)
    }

    /// Spearman's, between how many characters of a guess are right and how long it takes to be refused.
    private static func correlation(_ secret: String, _ refuses: (String) -> Bool) -> Double {
        var random = SeededGenerator(seed: 4)
        var samples: [(prefix: Int, time: Int64)] = []
        let guesses = (0..<secret.utf8.count).map { prefix in
            // Of the right length, and its first wrong character is wrong for certain.
            String(secret.prefix(prefix)) + String(repeating: "~", count: secret.utf8.count - prefix)
        }
        for _ in 0..<20_000 {
            let prefix = Int.random(in: 0..<guesses.count, using: &random)
            let began = MonotonicClock.now
            // More than once, since one is about as long as the clock is exact.
            for _ in 0..<8 { if !refuses(guesses[prefix]) { return .nan } }
            samples.append((prefix, began.duration(to: MonotonicClock.now).nanoseconds))
        }
        return pearson(ranks(samples.map { Double($0.prefix) }), ranks(samples.map { Double($0.time) }))
    }

    /// The place of each in the order of all; equals share the middle of theirs.
    private static func ranks(_ values: [Double]) -> [Double] {
        let order = values.indices.sorted { values[$0] < values[$1] }
        var ranks = [Double](repeating: 0, count: values.count)
        var start = 0
        while start < order.count {
            var end = start
            while end < order.count, values[order[end]] == values[order[start]] { end += 1 }
            for place in start..<end { ranks[order[place]] = Double(start + end - 1) / 2 }
            start = end
        }
        return ranks
    }

    private static func pearson(_ left: [Double], _ right: [Double]) -> Double {
        let count = Double(left.count)
        let (meanLeft, meanRight) = (left.reduce(0, +) / count, right.reduce(0, +) / count)
        var (both, ofLeft, ofRight) = (0.0, 0.0, 0.0)
        for (x, y) in zip(left, right) {
            both += (x - meanLeft) * (y - meanRight)
            ofLeft += (x - meanLeft) * (x - meanLeft)
            ofRight += (y - meanRight) * (y - meanRight)
        }
        return both / (ofLeft * ofRight).squareRoot()
    }
}
