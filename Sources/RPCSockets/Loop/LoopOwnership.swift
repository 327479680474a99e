// Which thread has a loop. The thread lends the loop while it runs code that is not the library's, takes it back
// afterwards, and can lose it to another thread only in between. Threads come in by their numbers, and who has the loop
// goes out; there is no thread, no clock and no loop in here.

package import RPCWire
import Synchronization

/// One word: the number of the thread that has the loop, with a mark while it has lent it; 0 when there is none. Numbers of
/// threads are multiples of eight. A thread that has lost the loop gets it never again, so its number cannot come back
/// while it still believes that it has lent it.
struct LoopOwnership: ~Copyable {
    /// What somebody who looks at the loop sees.
    enum Sighting: Equatable {
        case notLent
        /// Nobody has seen this loan before.
        case lent
        /// This thread has lent it, and two looks have seen that loan.
        case overdue(UInt)
    }

    // What becomes of a loan, one more with each look.
    private static let lent: UInt = 1
    private static let seen: UInt = 2
    private static let overdue: UInt = 3
    private static let marks: UInt = 7

    private let word = Atomic<UInt>(0)

    func isHeld(by thread: UInt) -> Bool { word.load(ordering: .relaxed) == thread }

    /// The loop had no thread.
    func begin(_ thread: UInt) { word.store(thread, ordering: .relaxed) }

    func end() { word.store(0, ordering: .relaxed) }

    /// By the thread that has the loop. What it has done with it is there for whoever takes it.
    /// - Parameter forLong: it is overdue at once.
    func lend(forLong: Bool = false) {
        word.store(word.load(ordering: .relaxed) | (forLong ? Self.overdue : Self.lent), ordering: .releasing)
    }

    /// By a thread that has lent the loop, or has it still. False when it has lost it.
    func takeBack(_ thread: UInt) -> Bool {
        var state = word.load(ordering: .relaxed)
        while state & ~Self.marks == thread {
            if state == thread { return true }
            // Nobody but this thread has done anything with the loop, so there is nothing to acquire.
            let (isBack, found) = word.weakCompareExchange(expected: state, desired: thread, ordering: .relaxed)
            if isBack { return true }
            state = found
        }
        return false
    }

    /// By any thread. Not nil when it has lent the loop, which is its own again until it goes out, and is not overdue.
    func comeIn(_ thread: UInt) -> Presence.Loan? {
        let state = word.load(ordering: .relaxed)
        guard state == thread | Self.lent || state == thread | Self.seen else { return nil }
        return word.compareExchange(expected: state, desired: thread, ordering: .relaxed).exchanged
            ? Presence.Loan(word: state) : nil
    }

    /// By the thread that has come in. The loan goes on: it is as old as it was.
    func goOut(_ loan: Presence.Loan) { word.store(loan.word, ordering: .releasing) }

    /// By the one who looks after the loop, from another thread.
    func sight() -> Sighting {
        let state = word.load(ordering: .relaxed)
        let (thread, mark) = (state & ~Self.marks, state & Self.marks)
        guard mark != 0 else { return .notLent }
        guard mark != Self.overdue else { return .overdue(thread) }
        // If this fails the thread goes on with the loop, as it should.
        guard word.compareExchange(expected: state, desired: state + 1, ordering: .relaxed).exchanged else {
            return .notLent
        }
        return mark == Self.lent ? .lent : .overdue(thread)
    }

    /// By another thread that is to have the loop. False when the first is not overdue any more.
    func take(from thread: UInt, for other: UInt) -> Bool {
        word.compareExchange(expected: thread | Self.overdue, desired: other, ordering: .acquiring).exchanged
    }
}
