// What a loop offers to the library for running code that is not the library's on its thread: subjects, and tasks that wait
// for answers. Such code may block. The thread lends the loop before it runs any, and takes it back afterwards; another
// thread takes the loop over when that lasts too long.
//
// Two conformers: `EventLoop`, and the tests' `ManualLoop`. A runner or peer that was made without one has its loop for itself.

package import RPCWire
import Synchronization

package protocol Handoff: AnyObject, Sendable {
    /// Lends the loop. Until `takeBack` the calling code is not on the loop: neither for `isCurrent` nor for anything that may
    /// be touched only there. Every job begins with the loop lent; work that was submitted never does. On the loop.
    func lend()

    /// Takes the loop back, and answers whether that succeeded. If not, another thread has it: a task gets there by
    /// `Task.yield`.
    func takeBack() -> Bool

    /// When another thread took the loop over from the calling thread, which has failed to take it back.
    var lostSince: Instant? { get }

    /// Puts library code that is called by foreign code on the loop, if the calling thread has lent it, until `leave`. Nothing in
    /// between may call out.
    func enter() -> LoopVisit

    func leave(_ visit: LoopVisit)

    /// Resumes callers whose answers have come; `resume` does nothing else. Tasks of the ordinary pool may run on this thread
    /// instead, soon after this. On the loop.
    /// - Parameter peer: the peer whose only caller this is; nil when other callers wait as well.
    func answer(onlyOf peer: ObjectIdentifier?, _ resume: () -> Void)
}

/// How library code that foreign code has called stands to a loop.
package enum LoopVisit: Sendable {
    /// It is not on the loop.
    case elsewhere
    /// It was on the loop before it asked.
    case atHome
    /// It is on the loop until it leaves. Then the loan goes on, as old as it was.
    /// - Parameter isHosted: whether the caller is a task of the ordinary pool, and not one that prefers the loop.
    case visiting(LoopOwnership.Loan, isHosted: Bool)

    /// Whether the caller is a task that prefers the loop.
    package var isResident: Bool { if case .visiting(_, isHosted: false) = self { true } else { false } }
    package var isOnLoop: Bool { if case .elsewhere = self { false } else { true } }
}

// MARK: which thread has a loop

/// Which thread has a loop, in one word. Threads come in by their numbers, and there is no clock and no loop in here.
///
/// The number of the thread that has the loop, with a mark while that thread has lent it; 0 when no thread has it.
///
/// Numbers of threads are multiples of eight. A thread that has lost the loop never gets it again, so its number cannot return
/// while it believes that it has lent the loop.
package final class LoopOwnership: LoopThread {
    /// A loan that goes on when the thread that lent the loop leaves it again.
    package struct Loan: Sendable { fileprivate let word: UInt }

    // The mark of a loan: 1 when it begins, one more with each look that has seen it, up to `seenOften`.
    private static let lent: UInt = 1
    private static let seenOften: UInt = 6
    /// Another thread is about to take the loop.
    private static let overdue: UInt = 7
    private static let marks: UInt = 7

    private let word = Atomic<UInt>(0)

    package var isCurrent: Bool { isHeld(by: SystemThread.current) }

    func isHeld(by thread: UInt) -> Bool { word.load(ordering: .relaxed) == thread }

    /// Gives a loop without a thread to this one.
    func begin(_ thread: UInt) {
        assert(thread & Self.marks == 0, "the number of a thread leaves room for the mark")
        word.store(thread, ordering: .relaxed)
    }

    func end() { word.store(0, ordering: .relaxed) }

    /// Begins a loan. Called by the thread that has the loop. The next owner sees everything that this thread has done with it.
    func lend() { word.store(word.load(ordering: .relaxed) | Self.lent, ordering: .releasing) }

    /// Ends a loan, for the thread that lent the loop or has it still. False when another thread has the loop.
    func takeBack(_ thread: UInt) -> Bool {
        var state = word.load(ordering: .relaxed)
        while state & ~Self.marks == thread {
            if state == thread { return true }
            // Only this thread has done anything with the loop, so there is nothing to acquire.
            let (isBack, found) = word.weakCompareExchange(expected: state, desired: thread, ordering: .relaxed)
            if isBack { return true }
            state = found
        }
        return false
    }

    /// Interrupts a loan of the calling thread, until `leave`. Nil when the thread has lent nothing, or when the loan is overdue.
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
        /// This thread's loan has been seen often enough, and can be ended by `take`.
        case overdue(UInt)
    }

    /// Looks at the loop, and counts the look.
    /// - Parameter enough: how many looks may see a loan before it is overdue; at most 6.
    func look(enough: Int) -> Sighting {
        let state = word.load(ordering: .relaxed)
        let (thread, mark) = (state & ~Self.marks, state & Self.marks)
        guard mark != 0 else { return .notLent }
        guard mark != Self.overdue else { return .overdue(thread) }
        let isEnough = mark >= min(UInt(enough), Self.seenOften)
        let next = thread | (isEnough ? Self.overdue : mark + 1)
        // If this fails the thread goes on with the loop, as it should.
        guard word.compareExchange(expected: state, desired: next, ordering: .relaxed).exchanged else {
            return .notLent
        }
        return isEnough ? .overdue(thread) : .lent
    }

    /// Takes the loop for another thread. False when the loan has ended since it was seen to be overdue.
    func take(from thread: UInt, for other: UInt) -> Bool {
        word.compareExchange(expected: thread | Self.overdue, desired: other, ordering: .acquiring).exchanged
    }
}
