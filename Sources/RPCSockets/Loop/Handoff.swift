// Lets subjects and callers run on a loop's thread although they may block. The thread lends the loop before such code runs,
// and takes it back afterwards. If the code runs for too long, another thread takes the loop over.
//
// Two conformers: `EventLoop`, and the tests' `ManualLoop`. A `RequestRunner` or `Requester` without a `Handoff` never lends
// its loop.

package import RPCWire
import Synchronization

package protocol Handoff: AnyObject, Sendable {
    /// Lends the loop. Until `takeBack` the calling code is not on the loop: `isCurrent` is false, and the loop's values must
    /// not be touched. Jobs of Swift tasks start while the loop is lent, submitted work while it is not. Called on the loop.
    func lend()

    /// Takes the loop back. False if another thread has it: then a task reaches the loop by `Task.yield`.
    func takeBack() -> Bool

    /// When it was decided that another thread takes the loop from the calling thread. Asked after `takeBack` has failed. Nil
    /// if the calling thread has lost no loop.
    var lostSince: Instant? { get }

    /// Called by library code that foreign code has called: puts it on the loop until `leave`. Works only if the calling thread
    /// has lent the loop. No foreign code may be called before `leave`.
    func enter() -> LoopVisit

    func leave(_ visit: LoopVisit)

    /// Calls `resume`, which resumes callers whose answers have arrived and does nothing else. Soon afterwards those of their
    /// tasks that belong to the ordinary pool may run on this thread. Called on the loop.
    /// - Parameter peer: the peer whose only waiting caller is resumed; nil if other callers wait as well.
    func answer(onlyOf peer: ObjectIdentifier?, _ resume: () -> Void)
}

/// Where library code runs that foreign code has called: on the loop, or not.
package enum LoopVisit: Sendable {
    /// The code is not on the loop.
    case elsewhere
    /// The code was on the loop before it asked.
    case atHome
    /// The code is on the loop until `leave`. Then the loan continues with its former mark.
    /// - Parameter isHosted: whether the caller is a task of the ordinary pool, and not a task that prefers the loop.
    case visiting(LoopOwnership.Loan, isHosted: Bool)

    /// Whether the caller is a task that prefers the loop.
    package var isResident: Bool { if case .visiting(_, isHosted: false) = self { true } else { false } }
    package var isOnLoop: Bool { if case .elsewhere = self { false } else { true } }
}

// MARK: which thread has a loop

/// Which thread has a loop, in one word. Threads are given by their numbers; no clock and no loop is used here.
///
/// The word is the number of the thread that has the loop, or 0 if no thread has it. While that thread has lent the loop, the
/// lowest three bits hold the mark of the loan:
///
/// - 0: not lent. `lend` makes it 1. `takeBack` and `enter` return to 0; `leave` restores the mark.
/// - 1 to 6: lent. Each `look` that sees the loan adds one.
/// - 7: overdue. `takeBack` still succeeds; `enter` does not. `take` gives the loop to another thread.
///
/// Thread numbers are multiples of eight, so there is room for the mark. A thread that has lost the loop never gets it again.
/// So its number cannot come back while it believes that it has lent the loop.
package final class LoopOwnership: LoopThread {
    /// An interrupted loan. It continues when the thread that lent the loop calls `leave`.
    package struct Loan: Sendable { fileprivate let word: UInt }

    // The mark of a loan: 1 at first, and one more for each look that has seen it, up to `seenOften`.
    private static let lent: UInt = 1
    private static let seenOften: UInt = 6
    /// The mark of a loan that another thread may end by `take`.
    private static let overdue: UInt = 7
    private static let marks: UInt = 7

    private let word = Atomic<UInt>(0)

    package var isCurrent: Bool { isHeld(by: SystemThread.current) }

    func isHeld(by thread: UInt) -> Bool { word.load(ordering: .relaxed) == thread }

    /// Gives a loop without a thread to this thread.
    func begin(_ thread: UInt) {
        assert(thread & Self.marks == 0, "the number of a thread leaves room for the mark")
        word.store(thread, ordering: .relaxed)
    }

    func end() { word.store(0, ordering: .relaxed) }

    /// Begins a loan. Called by the thread that has the loop. Releasing, so that the next owner sees everything that this
    /// thread has done with the loop.
    func lend() { word.store(word.load(ordering: .relaxed) | Self.lent, ordering: .releasing) }

    /// Ends a loan of this thread; also true if the thread has lent nothing. False if another thread has the loop.
    func takeBack(_ thread: UInt) -> Bool {
        var state = word.load(ordering: .relaxed)
        while state & ~Self.marks == thread {
            if state == thread { return true }
            // Only this thread has worked with the loop so far, so there is nothing to acquire.
            let (isBack, found) = word.weakCompareExchange(expected: state, desired: thread, ordering: .relaxed)
            if isBack { return true }
            state = found
        }
        return false
    }

    /// Interrupts a loan of this thread until `leave`. Nil if the thread has lent nothing, or if the loan is overdue.
    func enter(_ thread: UInt) -> Loan? {
        let state = word.load(ordering: .relaxed)
        guard (thread | Self.lent...thread | Self.seenOften).contains(state) else { return nil }
        return word.compareExchange(expected: state, desired: thread, ordering: .relaxed).exchanged
            ? Loan(word: state) : nil
    }

    func leave(_ loan: Loan) { word.store(loan.word, ordering: .releasing) }

    // MARK: by other threads

    /// What one look from another thread has seen.
    enum Sighting: Equatable {
        case notLent
        case lent
        /// The loan of this thread has been seen often enough, and `take` may end it.
        case overdue(UInt)
    }

    /// Checks whether the loop is lent, and counts this look.
    /// - Parameter enough: how many looks must see a loan before it is overdue; at most 6.
    func look(enough: Int) -> Sighting {
        let state = word.load(ordering: .relaxed)
        let (thread, mark) = (state & ~Self.marks, state & Self.marks)
        guard mark != 0 else { return .notLent }
        guard mark != Self.overdue else { return .overdue(thread) }
        let isEnough = mark >= min(UInt(enough), Self.seenOften)
        let next = thread | (isEnough ? Self.overdue : mark + 1)
        // If this fails, the loan has just ended: its thread has the loop back.
        guard word.compareExchange(expected: state, desired: next, ordering: .relaxed).exchanged else {
            return .notLent
        }
        return isEnough ? .overdue(thread) : .lent
    }

    /// Gives the loop to another thread. False if the loan has ended since it was seen to be overdue.
    func take(from thread: UInt, for other: UInt) -> Bool {
        word.compareExchange(expected: thread | Self.overdue, desired: other, ordering: .acquiring).exchanged
    }
}
