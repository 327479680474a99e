// All axes, in the order in which they run.

extension Growth {
    static let all = [callers, connections, payload]

    private static let callers = Growth(
        name: "callers", summary: "add, 1 to 1,024 callers on the pool, one connection",
        sizes: powersOfTwo(0...10), marks: [1, 4, 16, 64, 256, 1_024], claim: (from: 64, to: 1_024)
    ) { .adding(callers: $0) }

    /// The callers stay as many: what grows is over how many connections they are spread.
    private static let connections = Growth(
        name: "connections", summary: "add, 1,000 callers in all, on 1 to 1,000 connections",
        sizes: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000], marks: [1, 10, 100, 1_000]
    ) { .adding(callers: 1_000, connections: $0) }

    private static let payload = Growth(
        name: "payload", summary: "a text of 16 B to 8 MiB there and back, one at a time",
        sizes: powersOfTwo(4...23), marks: [16, 256, 4_096, 65_536, 1_048_576, 8_388_608], isInBytes: true
    ) { .echoing(bytes: $0) }

    private static func powersOfTwo(_ exponents: ClosedRange<Int>) -> [Int] { exponents.map { 1 << $0 } }
}
