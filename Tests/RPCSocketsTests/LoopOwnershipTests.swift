// Which thread has a loop, event by event, without a thread.

import RPCWire
import Testing

@testable import RPCSockets

@Suite struct `Ownership of a loop` {
    private let first: UInt = 0x7F00_0000_0040
    private let second: UInt = 0x7F00_0000_0080

    /// As often as it takes.
    private func lookUntilOverdue(_ ownership: LoopOwnership) {
        for _ in 0..<2 { _ = ownership.look(enough: 2) }
    }

    private func enters(_ thread: UInt, _ ownership: LoopOwnership) -> Bool {
        ownership.enter(thread) != nil
    }

    @Test func `a thread that begins has the loop, and has it no more at the end`() {
        let ownership = LoopOwnership()
        #expect(ownership.isHeld(by: first) == false)
        ownership.begin(first)
        #expect(ownership.isHeld(by: first) == true)
        #expect(ownership.isHeld(by: second) == false)
        ownership.end()
        #expect(ownership.isHeld(by: first) == false)
        #expect(ownership.look(enough: 2) == .notLent)
    }

    @Test func `what is lent is held by no thread until it is taken back`() {
        let ownership = LoopOwnership()
        ownership.begin(first)
        ownership.lend()
        #expect(ownership.isHeld(by: first) == false)
        #expect(ownership.takeBack(first) == true)
        #expect(ownership.isHeld(by: first) == true)
        #expect(ownership.takeBack(first) == true)
        #expect(ownership.look(enough: 2) == .notLent)
    }

    @Test func `a loan is overdue at the second look`() {
        let ownership = LoopOwnership()
        ownership.begin(first)
        ownership.lend()
        #expect(ownership.look(enough: 2) == .lent)
        #expect(ownership.look(enough: 2) == .overdue(first))
        #expect(ownership.look(enough: 2) == .overdue(first))
    }

    @Test(arguments: 1...9) func `a loan is overdue after as many looks as are enough, but at most six`(enough: Int) {
        let ownership = LoopOwnership()
        ownership.begin(first)
        ownership.lend()
        let looks = (1...9).first { _ in ownership.look(enough: enough) == .overdue(first) }
        #expect(looks == min(enough, 6))
    }

    @Test func `the thread that has lent it may enter, unless the loan is overdue`() throws {
        let ownership = LoopOwnership()
        ownership.begin(first)
        #expect(enters(first, ownership) == false)
        ownership.lend()
        #expect(enters(second, ownership) == false)
        let loan = ownership.enter(first)
        #expect(ownership.isHeld(by: first) == true)
        #expect(ownership.look(enough: 2) == .notLent)
        ownership.leave(try #require(loan))
        #expect(ownership.isHeld(by: first) == false)
        lookUntilOverdue(ownership)
        #expect(enters(first, ownership) == false)
        #expect(ownership.take(from: first, for: second) == true)
        #expect(enters(first, ownership) == false)
    }

    @Test func `a loan is as old as it was when its thread leaves again`() throws {
        let ownership = LoopOwnership()
        ownership.begin(first)
        ownership.lend()
        #expect(ownership.look(enough: 2) == .lent)
        for _ in 0..<2 {
            let loan = ownership.enter(first)
            ownership.leave(try #require(loan))
        }
        #expect(ownership.look(enough: 2) == .overdue(first))
        #expect(enters(first, ownership) == false)
    }

    @Test func `each loan is counted by itself`() {
        let ownership = LoopOwnership()
        ownership.begin(first)
        for _ in 0..<5 {
            ownership.lend()
            #expect(ownership.look(enough: 2) == .lent)
            #expect(ownership.takeBack(first) == true)
        }
        #expect(ownership.isHeld(by: first) == true)
    }

    @Test func `a loop that is not overdue is not taken`() {
        let ownership = LoopOwnership()
        ownership.begin(first)
        #expect(ownership.take(from: first, for: second) == false)
        ownership.lend()
        #expect(ownership.take(from: first, for: second) == false)
        _ = ownership.look(enough: 2)
        #expect(ownership.take(from: first, for: second) == false)
        _ = ownership.look(enough: 2)
        #expect(ownership.takeBack(first) == true)
        #expect(ownership.take(from: first, for: second) == false)
        #expect(ownership.isHeld(by: first) == true)
    }

    @Test func `a thread that has lost the loop does not get it back, whatever the other does with it`() {
        let ownership = LoopOwnership()
        ownership.begin(first)
        ownership.lend()
        lookUntilOverdue(ownership)
        #expect(ownership.take(from: first, for: second) == true)
        #expect(ownership.isHeld(by: second) == true)
        #expect(ownership.takeBack(first) == false)
        ownership.lend()
        #expect(ownership.takeBack(first) == false)
        lookUntilOverdue(ownership)
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
        lookUntilOverdue(ownership)
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
