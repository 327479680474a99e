// What is kept until the other end has it, held against a plain list.

import RPCWire
import TestSupport
import Testing

@Suite struct `What is kept` {
    private func keep(_ text: String, _ number: Int64, in kept: inout KeptMessages) {
        var text = text
        text.withUTF8 { kept.keep(UnsafeRawBufferPointer($0), number: number) }
    }

    private func texts(_ kept: borrowing KeptMessages) -> [String] { kept.messages.map(\.message.description) }

    @Test func `what was kept comes back in order, with its numbers`() {
        var kept = KeptMessages()
        keep("one", 1, in: &kept)
        keep("", 2, in: &kept)
        keep("seven", 7, in: &kept)
        #expect(texts(kept) == ["one", "", "seven"])
        #expect(kept.messages.map(\.number) == [1, 2, 7])
        #expect(kept.last == 7)
        #expect((kept.count, kept.byteCount) == (3, 8))
    }

    @Test(
        arguments: [
            (.min, 3), (-1, 3), (0, 3), (1, 2), (2, 1), (6, 1), (7, 0), (8, 0), (.max, 0),
        ] as [(Int64, Int)])
    func `any number releases what is not above it`(_ number: Int64, left: Int) {
        var kept = KeptMessages()
        keep("one", 1, in: &kept)
        keep("two", 2, in: &kept)
        keep("seven", 7, in: &kept)
        kept.release(through: number)
        #expect(texts(kept) == ["one", "two", "seven"].suffix(left))
        let isEmpty = kept.isEmpty
        #expect(isEmpty == (left == 0))
        #expect(kept.last == 7)
    }

    @Test func `what was dropped behind others goes with them`() {
        var kept = KeptMessages()
        keep("one", 1, in: &kept)
        for number in 2...5 { keep("two", Int64(number), in: &kept) }
        #expect(kept.drop { number, _, _, _ in number > 1 } == 4)
        #expect((kept.count, kept.byteCount) == (1, 15))
        kept.release(through: 1)
        #expect((kept.count, kept.byteCount) == (0, 0))
    }

    @Test func `a number that is not higher than the last is not kept`() {
        var kept = KeptMessages()
        keep("two", 2, in: &kept)
        keep("again", 2, in: &kept)
        keep("one", 1, in: &kept)
        kept.release(through: 5)
        keep("two", 2, in: &kept)
        let isEmpty = kept.isEmpty
        #expect(isEmpty)
    }

    @Test func `a message that others have too is kept as it is, and let go when it is released`() {
        var kept = KeptMessages()
        weak var chunk: ByteChunk?
        do {
            let message = ByteChunk(capacity: 8)
            chunk = message
            keep("one", 1, in: &kept)
            kept.keep(shared: Bytes(message, 0..<8), number: 2)
            keep("three", 3, in: &kept)
        }
        #expect((kept.count, kept.byteCount) == (3, 16))
        #expect(kept.messages.map(\.message.count) == [3, 8, 5])
        kept.release(through: 1)
        #expect(chunk != nil)
        kept.release(through: 2)
        #expect(chunk == nil)
        #expect(texts(kept) == ["three"])
        #expect((kept.count, kept.byteCount) == (1, 5))
    }

    @Test func `what is not wanted any more is dropped from anywhere`() {
        var kept = KeptMessages()
        for (number, text) in [(1, "one"), (2, "a longer one"), (3, "three"), (5, "another long one")]
            as [(Int64, String)]
        {
            if number == 5 { kept.keep(shared: Bytes(text), number: number) } else { keep(text, number, in: &kept) }
        }
        #expect(kept.drop { _, length, _, _ in length > 5 } == 2)
        #expect(kept.drop { _, length, _, _ in length > 5 } == 0)
        #expect(texts(kept) == ["one", "three"])
        #expect(kept.numbers(through: 2) == [1] && kept.numbers(through: 9) == [1, 3])
        #expect(kept.count == 2)
        #expect(kept.release(through: 2) == 1)
        #expect(texts(kept) == ["three"])
        #expect(kept.drop { _, _, _, _ in true } == 1)
        #expect((kept.count, kept.byteCount) == (0, 0))
        keep("six", 6, in: &kept)
        #expect(texts(kept) == ["six"])
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `it agrees with a list over random keeping and releasing`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var kept = KeptMessages()
        var model: [(Int64, String)] = []
        var next: Int64 = 0
        for _ in 0..<5_000 {
            if Int.random(in: 0..<3, using: &random) > 0 {
                next += Int64.random(in: 1...3, using: &random)
                let text = String(repeating: "\(next) ", count: Int.random(in: 0...4, using: &random))
                if Bool.random(using: &random) {
                    kept.keep(shared: Bytes(text), number: next)
                } else {
                    keep(text, next, in: &kept)
                }
                model.append((next, text))
            } else {
                let number = next - Int64.random(in: 0...200, using: &random)
                kept.release(through: number)
                model.removeAll { $0.0 <= number }
            }
            #expect(kept.count == model.count)
            #expect(kept.byteCount == model.reduce(0) { $0 + $1.1.utf8.count })
        }
        #expect(texts(kept) == model.map(\.1))
    }
}
