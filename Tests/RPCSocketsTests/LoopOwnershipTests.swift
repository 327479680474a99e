// Who has a loop, event by event, without a thread.

import RPCWire
import Testing

@testable import RPCSockets

@Suite struct `Ownership of a loop` {
    private let first: UInt = 0x7F00_0000_0040
    private let second: UInt = 0x7F00_0000_0080

    /// As often as it takes.
    private func sightUntilOverdue(_ ownership: borrowing LoopOwnership) {
        for _ in 0..<2 { _ = ownership.sight() }
    }

    private func comesIn(_ thread: UInt, _ ownership: borrowing LoopOwnership) -> Bool {
        ownership.comeIn(thread) != nil
    }

    @Test func `a thread that begins has the loop, and has it no more at the end`() {
        let ownership = LoopOwnership()
        #expect(ownership.isHeld(by: first) == false)
        ownership.begin(first)
        #expect(ownership.isHeld(by: first) == true)
        #expect(ownership.isHeld(by: second) == false)
        ownership.end()
        #expect(ownership.isHeld(by: first) == false)
        #expect(ownership.sight() == .notLent)
    }

    @Test func `what is lent is nobody's until it is taken back`() {
        let ownership = LoopOwnership()
        ownership.begin(first)
        ownership.lend()
        #expect(ownership.isHeld(by: first) == false)
        #expect(ownership.takeBack(first) == true)
        #expect(ownership.isHeld(by: first) == true)
        #expect(ownership.takeBack(first) == true)
        #expect(ownership.sight() == .notLent)
    }

    @Test func `a loan is overdue at the second look`() {
        let ownership = LoopOwnership()
        ownership.begin(first)
        ownership.lend()
        #expect(ownership.sight() == .lent)
        #expect(ownership.sight() == .overdue(first))
        #expect(ownership.sight() == .overdue(first))
    }

    @Test func `what is lent for long is overdue at once`() {
        let ownership = LoopOwnership()
        ownership.begin(first)
        ownership.lend(forLong: true)
        #expect(ownership.sight() == .overdue(first))
        #expect(ownership.takeBack(first) == true)
        ownership.lend(forLong: true)
        #expect(ownership.take(from: first, for: second) == true)
        #expect(ownership.takeBack(first) == false)
    }

    @Test func `who has lent it may come in, unless it is overdue`() throws {
        let ownership = LoopOwnership()
        ownership.begin(first)
        #expect(comesIn(first, ownership) == false)
        ownership.lend()
        #expect(comesIn(second, ownership) == false)
        let loan = ownership.comeIn(first)
        #expect(ownership.isHeld(by: first) == true)
        #expect(ownership.sight() == .notLent)
        ownership.goOut(try #require(loan))
        #expect(ownership.isHeld(by: first) == false)
        sightUntilOverdue(ownership)
        #expect(comesIn(first, ownership) == false)
        #expect(ownership.take(from: first, for: second) == true)
        #expect(comesIn(first, ownership) == false)
    }

    @Test func `a loan is as old as it was when who has it goes out`() throws {
        let ownership = LoopOwnership()
        ownership.begin(first)
        ownership.lend()
        #expect(ownership.sight() == .lent)
        for _ in 0..<2 {
            let loan = ownership.comeIn(first)
            ownership.goOut(try #require(loan))
        }
        #expect(ownership.sight() == .overdue(first))
        #expect(comesIn(first, ownership) == false)
    }

    @Test func `each loan is counted by itself`() {
        let ownership = LoopOwnership()
        ownership.begin(first)
        for _ in 0..<5 {
            ownership.lend()
            #expect(ownership.sight() == .lent)
            #expect(ownership.takeBack(first) == true)
        }
        #expect(ownership.isHeld(by: first) == true)
    }

    @Test func `nobody takes a loop that is not overdue`() {
        let ownership = LoopOwnership()
        ownership.begin(first)
        #expect(ownership.take(from: first, for: second) == false)
        ownership.lend()
        #expect(ownership.take(from: first, for: second) == false)
        _ = ownership.sight()
        #expect(ownership.take(from: first, for: second) == false)
        _ = ownership.sight()
        #expect(ownership.takeBack(first) == true)
        #expect(ownership.take(from: first, for: second) == false)
        #expect(ownership.isHeld(by: first) == true)
    }

    @Test func `who has lost the loop does not get it back, whatever the other does with it`() {
        let ownership = LoopOwnership()
        ownership.begin(first)
        ownership.lend()
        sightUntilOverdue(ownership)
        #expect(ownership.take(from: first, for: second) == true)
        #expect(ownership.isHeld(by: second) == true)
        #expect(ownership.takeBack(first) == false)
        ownership.lend()
        #expect(ownership.takeBack(first) == false)
        sightUntilOverdue(ownership)
        #expect(ownership.takeBack(first) == false)
        #expect(ownership.take(from: first, for: first) == false)
        #expect(ownership.takeBack(second) == true)
        ownership.end()
        #expect(ownership.takeBack(first) == false)
    }

    @Test func `the loop is taken once`() {
        let ownership = LoopOwnership()
        ownership.begin(first)
        ownership.lend()
        sightUntilOverdue(ownership)
        #expect(ownership.take(from: first, for: second) == true)
        #expect(ownership.take(from: first, for: 0x100) == false)
        #expect(ownership.isHeld(by: second) == true)
    }

    @Test func `the numbers of threads leave room for the marks`() async throws {
        let numbers = Diary<UInt>()
        for _ in 0..<8 {
            await withCheckedContinuation { continuation in
                do {
                    try SystemThread.start(name: "numbered") {
                        numbers.note(SystemThread.current)
                        continuation.resume()
                    }
                } catch {
                    Issue.record(error)
                    continuation.resume()
                }
            }
        }
        #expect(numbers.all.allSatisfy { $0 != 0 && $0 % 8 == 0 })
    }
}
