// What is to go wrong, as the test says it and the proxy's thread reads it.

import RPCWire
import RemoteProxy
import TestSupport

/// Which of the two directions.
package enum Way: Sendable, Hashable, CaseIterable {
    case toServer, toClient
}

/// How a connection breaks.
package enum Cut: Sendable, Hashable {
    /// Both sides hear the end, behind all that has been passed on.
    case finish
    /// Both sides hear a reset, and what they had not read is lost.
    case reset
    /// One side hears the end; the other direction goes on.
    case halfClose(Way)
}

/// Cuts after random numbers of bytes. The same seed makes the same ones.
package struct CutPlan: Sendable {
    package let bytes: ClosedRange<Int>
    package let cuts: [Cut]
    private var random: SeededGenerator
    private var left: Int
    /// Bytes until the next one.
    private(set) var next: Int

    /// - Parameter times: how many cuts, all in all.
    package init(seed: UInt64, times: Int, every bytes: ClosedRange<Int>, _ cuts: [Cut] = [.finish, .reset]) {
        self.bytes = bytes
        self.cuts = cuts
        random = SeededGenerator(seed: seed)
        left = times
        next = times > 0 ? Int.random(in: bytes, using: &random) : .max
    }

    /// So many bytes have been passed on. Answers the cut that is due now, if one is.
    mutating func passed(_ count: Int) -> Cut? {
        guard left > 0 else { return nil }
        next -= count
        guard next <= 0 else { return nil }
        left -= 1
        next = left > 0 ? Int.random(in: bytes, using: &random) : .max
        return cuts.randomElement(using: &random)
    }
}

/// Changes a byte now and then.
struct Corruption: Sendable {
    let distance: ClosedRange<Int>
    private var random: SeededGenerator
    private var next: Int

    init(seed: UInt64, every distance: ClosedRange<Int>) {
        self.distance = distance
        random = SeededGenerator(seed: seed)
        next = Int.random(in: distance, using: &random)
    }

    /// Answers how many bytes were changed.
    mutating func apply(to bytes: inout [UInt8]) -> Int {
        var changed = 0
        while next < bytes.count {
            bytes[next] ^= UInt8.random(in: 1...255, using: &random)
            changed += 1
            next += Int.random(in: distance, using: &random)
        }
        next -= bytes.count
        return changed
    }
}

struct FaultSettings: Sendable {
    var target: Endpoint
    /// Nothing is passed before.
    var stalledUntil = Instant(nanoseconds: .min)
    /// How many bytes are passed at a time, and how long after the last ones.
    var piece = Int.max
    var pause = Duration.zero
    var isRefusing = false
    /// Not yet in force.
    var corruption: [Way: Corruption]?
    /// Not yet begun.
    var plan: CutPlan?
    /// Cuts of all connections that have not been made yet.
    var cuts: [Cut] = []
    var isOver = false
}
