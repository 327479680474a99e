// Large memory between two uses: what is given back is handed out again, and only so much of it is kept.

import TestSupport
import Testing

@testable import JSONCodec

@Suite struct `Large blocks` {
    private func block(_ count: Int) -> UnsafeMutableRawBufferPointer { .allocate(byteCount: count, alignment: 16) }

    @Test func `a block that was given back is handed out again, once`() {
        let shelf = BlockShelf(capacity: 1_000, most: 1_000)
        let given = block(100)
        shelf.put(given)
        let taken = shelf.take(90)
        #expect(taken?.baseAddress == given.baseAddress && taken?.count == 100)
        #expect(shelf.take(90) == nil)
        taken?.deallocate()
    }

    @Test func `the block that fits best is taken, and none of which the half would do`() {
        let shelf = BlockShelf(capacity: 1_000, most: 1_000)
        for count in [200, 120, 300] { shelf.put(block(count)) }
        #expect(shelf.take(50) == nil)
        for (asked, answered) in [(301, nil), (110, 120), (110, 200), (110, nil), (150, 300)] as [(Int, Int?)] {
            let taken = shelf.take(asked)
            #expect(taken?.count == answered)
            taken?.deallocate()
        }
    }

    @Test func `beyond its capacity the oldest are let go, and what is too large is not kept`() {
        let shelf = BlockShelf(capacity: 300, most: 120)
        for count in [60, 110, 61, 62] { shelf.put(block(count)) }
        shelf.put(block(121))
        #expect(shelf.take(121) == nil)
        shelf.put(block(63))
        for (asked, answered) in [(60, 61), (60, 62), (60, 63), (60, 110), (60, nil)] as [(Int, Int?)] {
            let taken = shelf.take(asked)
            #expect(taken?.count == answered)
            taken?.deallocate()
        }
    }

    @Test func `there is room for four like the last one, and no more when smaller ones come again`() {
        let shelf = BlockShelf(capacity: 300, most: 120)
        for count in [60, 111, 112, 113, 114] { shelf.put(block(count)) }
        shelf.put(block(61))
        for answered in [61, 113, 114, nil] {
            let taken = shelf.take(60)
            #expect(taken?.count == answered)
            taken?.deallocate()
        }
    }

    @Test(arguments: [0, 1, LargeBlocks.smallestKept, LargeBlocks.smallestKept + 1, 1 << 20, LargeBlocks.keptBytes + 1])
    func `there is always at least as much as was asked for`(count: Int) {
        let first = LargeBlocks.allocate(count)
        #expect(first.count >= count)
        first.initializeMemory(as: UInt8.self, repeating: 1)
        LargeBlocks.deallocate(first)
    }

    @Test func `two threads never have the same block`() async {
        await withTaskGroup(of: Void.self) { group in
            for mark in 0..<4 as Range<UInt8> {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(mark))
                    for _ in 0..<300 {
                        let count =
                            LargeBlocks.smallestKept + Int.random(in: 1...LargeBlocks.smallestKept, using: &random)
                        let block = LargeBlocks.allocate(count)
                        block[0] = mark
                        block[count - 1] = mark
                        await Task.yield()
                        #expect(block[0] == mark && block[count - 1] == mark)
                        LargeBlocks.deallocate(block)
                    }
                }
            }
        }
    }

    @Test func `an output that has held much holds little afterwards, and writes the same`() throws {
        let output = JSONOutput()
        for length in [10, 3 << 20, 10, 1 << 20, LargeBlocks.smallestKept] {
            output.removeAll()
            let text = String(repeating: "x", count: length)
            output.append(quoted: text)
            output.append(UInt8(ascii: "]"))
            #expect(output.bytes.elementsEqual("\"\(text)\"]".utf8))
        }
    }
}
