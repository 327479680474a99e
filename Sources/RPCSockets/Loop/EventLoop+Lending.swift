// How a loop goes on when its thread does not. Before the thread runs code that is not the library's it lends the loop,
// and takes it back before it touches it again; meanwhile the loop's watch looks, and when it still sees a loan
// that it has seen two milliseconds before another thread takes the loop over, unless this one has only waited for a
// processor. The former finds out when it comes back, and ends.

package import RPCWire
import Synchronization

/// What the watch knows of a loop.
enum Attention: UInt8, AtomicRepresentable {
    /// Nobody looks: the loop has not been lent for some time.
    case asleep
    /// It has not been lent since the last look.
    case quiet
    /// It has.
    case lively
    /// The loop has been shut down, and nobody looks any more.
    case ended
}

/// How a thread came to be replaced.
package struct Absence: Sendable {
    package let since: Instant
    let loop: ObjectIdentifier
    /// Whether it did not sleep, or nobody knew.
    package let isRunning: Bool
}

extension EventLoop {
    /// How long a loan may last that has been seen.
    private static let longestLoan = Duration.milliseconds(2)
    /// The next look where none has been seen. Not sooner: whoever looks takes a processor away from those who work.
    static let timeBetweenLooks = Duration.milliseconds(4)
    /// A thread that has computed for so long meanwhile did not just wait for a processor.
    private static let longestComputation = longestLoan.nanoseconds * 3 / 4
    /// After so many looks that saw nothing nobody looks any more, so that an idle process is never woken.
    private static let enoughQuietLooks = 2

    package func lend(forLong: Bool) {
        guard watch != nil else { return }
        ownership.lend(forLong: forLong)
        // Nobody knows yet whether it will sleep.
        if forLong { replace(SystemThread.current, isRunning: true) }
        // After the loan: a watch that has gone to sleep since has not seen it. One that goes to sleep has looked several
        // times since this was lively, and would see a loan that was made before this is read.
        if attention.load(ordering: .relaxed) != .lively { drawAttention() }
    }

    package func comeIn() -> Presence {
        let thread = SystemThread.current
        if ownership.isHeld(by: thread) { return .atHome }
        guard let loan = ownership.comeIn(thread) else { return .elsewhere }
        // The other code may have taken long.
        timeOfThisItem = nil
        return .visiting(loan, asGuest: hasGuest)
    }

    package func goOut(_ presence: Presence) {
        guard case .visiting(let loan, _) = presence else { return }
        ownership.goOut(loan)
        // As for a loan that begins: a watch may have gone to sleep meanwhile.
        if attention.load(ordering: .relaxed) != .lively { drawAttention() }
    }

    package func takeBack() -> Bool { watch == nil || ownership.takeBack(SystemThread.current) }

    /// How the calling thread was replaced, which could not take the loop back.
    package var absence: Absence? { watch?.absence(of: SystemThread.current) }

    @inline(never)
    private func drawAttention() {
        let before = attention.compareExchange(expected: .quiet, desired: .lively, ordering: .relaxed).original
        guard before == .asleep,
            attention.compareExchange(expected: .asleep, desired: .lively, ordering: .relaxed).exchanged
        else { return }
        watch?.attend(to: self)
    }

    /// One look. Answers when there is to be another, if at all; not sooner, or a loan would be overdue that is not.
    func look() -> Duration? {
        let before = attention.compareExchange(expected: .lively, desired: .quiet, ordering: .relaxed).original
        guard before != .ended else { return nil }
        let sighting = ownership.sight()
        let number = threadNumber.load(ordering: .relaxed)
        switch sighting {
        case .notLent: break
        case .lent: timeWhenSeenLent = SystemThread.processorTime(systemNumber: number)
        case .overdue(let thread):
            let isRunning = SystemThread.isRunning(systemNumber: number)
            if !isRunning || hasComputedForLong(number) { replace(thread, isRunning: isRunning) }
        }
        quietLooks = before == .quiet && sighting == .notLent ? quietLooks + 1 : 0
        let next = sighting == .notLent ? Self.timeBetweenLooks : Self.longestLoan
        guard quietLooks >= Self.enoughQuietLooks else { return next }
        quietLooks = 0
        return attention.compareExchange(expected: .quiet, desired: .asleep, ordering: .relaxed).exchanged ? nil : next
    }

    /// A thread that has merely waited for a processor will have done soon, and another would only have to wait as well.
    private func hasComputedForLong(_ number: Int32) -> Bool {
        guard let before = timeWhenSeenLent, let now = SystemThread.processorTime(systemNumber: number) else {
            return true
        }
        return now - before >= Self.longestComputation
    }

    /// By a thread that finds that it has lost the loop.
    func threadIsBack() {
        absentThreads.subtract(1, ordering: .relaxed)
        watch?.returned(SystemThread.current)
    }

    private func replace(_ thread: UInt, isRunning: Bool) {
        let absence = Absence(since: MonotonicClock.now, loop: ObjectIdentifier(self), isRunning: isRunning)
        guard let watch, watch.admits(absence, of: thread) else { return }
        do throws(SystemError) {
            try SystemThread.start(name: name) { [self] in
                // It may have come back in the meantime.
                guard ownership.take(from: thread, for: SystemThread.current) else { return watch.returned(thread) }
                absentThreads.add(1, ordering: .relaxed)
                watch.tookOver()
                live()
            }
        } catch {
            watch.cannotReplace(thread, because: "the event loop \(name) gets no other thread: \(error)")
        }
    }
}
