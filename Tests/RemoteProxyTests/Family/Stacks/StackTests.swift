// Composition: random stacks over recording subjects do what a plain model says, call by call, to the last log line.

import Foundation
import RPCSockets
import RPCWire
import TestSupport
import Testing

@Suite(.computesForLong) struct `Stacks` {
    /// 1,000 in all, unless `REMOTEPROXY_STACKS` says otherwise.
    private static let count = ProcessInfo.processInfo.environment["REMOTEPROXY_STACKS"].flatMap { UInt64($0) } ?? 1_000
    private static let parts: UInt64 = 10

    @Test(arguments: 0..<parts) func `a stack in any order means what it reads`(part: UInt64) throws {
        for seed in stride(from: part, to: Self.count, by: Int(Self.parts)) { try compare(seed: seed) }
    }

    private func compare(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var numbers = 0
        let depth = Int.random(in: 1...7, using: &random)
        let stack = random.stack(depth: depth, &numbers)
        let reactions = Dictionary(
            uniqueKeysWithValues: (0...numbers).map { number in (number, (0..<8).map { _ in random.reaction() }) })
        let real = RealStack { reactions[$0] ?? [] }
        let proxy = real.proxy(stack)
        var model = StackModel { reactions[$0] ?? [] }
        real.loop.run()
        model.begin(stack)
        for _ in 0..<8 {
            let operation = random.operation()
            let expected = model.perform(operation, on: stack)
            let actual = try real.perform(operation, on: proxy)
            let isSame =
                actual == expected && real.loop.now == model.now
                && lines(real.log.withLock { $0 }, of: stack) == lines(model.log, of: stack)
            guard isSame else {
                Issue.record(
                    """
                    seed \(seed), \(operation) on \(stack)
                    ended with \(actual) at \(real.loop.now), expected \(expected) at \(model.now)
                    \(real.log.withLock { $0 }.joined(separator: "\n"))
                    --- expected
                    \(model.log.joined(separator: "\n"))
                    """)
                return
            }
        }
    }

    /// The log, or what each number wrote where they have no order among them.
    private func lines(_ log: [String], of stack: Stack) -> [[String]] {
        guard stack.hasSeveral else { return [log] }
        return Dictionary(grouping: log) { $0.prefix { $0 != " " } }.sorted { $0.key < $1.key }.map(\.value)
    }
}
