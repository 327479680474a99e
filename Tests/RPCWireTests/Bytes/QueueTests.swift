import RPCWire
import TestSupport
import Testing

private final class Alive {
    var count = 0
}

private final class Counted {
    let number: Int
    let alive: Alive

    init(_ number: Int, _ alive: Alive) {
        (self.number, self.alive) = (number, alive)
        alive.count += 1
    }

    deinit { alive.count -= 1 }
}

private struct Moved: ~Copyable {
    let counted: Counted
}

@Suite struct `A queue` {
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `gives back what it got, in order, and keeps nothing`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let alive = Alive()
        var (next, first) = (0, 0)
        do {
            var queue = Queue<Moved>()
            for _ in 0..<2_000 {
                switch Int.random(in: 0..<12, using: &random) {
                case 0...5:
                    queue.append(Moved(counted: Counted(next, alive)))
                    next += 1
                case 6...8:
                    var number: Int?
                    if let moved = queue.popFirst() { number = moved.counted.number }
                    #expect(number == (first < next ? first : nil))
                    first = min(next, first + 1)
                case 9:
                    var number: Int?
                    let isMoved = queue.moveFirst { number = $0.move().counted.number }
                    #expect(isMoved == (first < next))
                    #expect(number == (first < next ? first : nil))
                    first = min(next, first + 1)
                case 10: queue.letGo(beyond: 8)
                default:
                    let index = Int.random(in: 0..<max(1, next - first), using: &random)
                    if first < next {
                        let number = queue[index].counted.number
                        #expect(number == first + index)
                    }
                }
                let (count, left) = (queue.count, alive.count)
                #expect(count == next - first && left == count)
            }
            if seed % 2 == 0 {
                queue.removeAll()
                let isEmpty = queue.isEmpty
                #expect(isEmpty && alive.count == 0)
                queue.append(Moved(counted: Counted(0, alive)))
            }
        }
        #expect(alive.count == 0)
    }
}
