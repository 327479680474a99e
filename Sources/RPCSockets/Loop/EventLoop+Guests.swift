// Callers that go on where their answers have come in. A task that is resumed on the ordinary pool costs two threads a
// wake-up, and them more than the call; if all it does is to call again it is better run here, in the turn that has brought
// its answer. It does not notice: the pool runs a task on whichever thread is free.
//
// Nobody knows what a task does next, so a guest has the thread with the loop lent, and `Hospitality` sends guests to the
// pool where they come to more than that.

import CSystem
package import RPCWire
import Synchronization

extension EventLoop {
    private static let hasHook = system_hook_pool() != 0

    package func answer(onlyOf peer: ObjectIdentifier?, _ resume: () -> Void) {
        let areWelcome = hospitality.welcomes(onlyOf: peer, at: now)
        guard areWelcome, canHost, Self.hasHook else { return resume() }
        // The loop is handed through as it is, and a job is one pointer.
        system_take_jobs(
            { loop, job in
                let loop = Unmanaged<EventLoop>.fromOpaque(loop!)
                loop._withUnsafeGuaranteedRef { $0.queue.append(.guest(unsafeBitCast(job, to: UnownedJob.self))) }
            }, Unmanaged.passUnretained(self).toOpaque())
        resume()
        system_take_jobs(nil, nil)
    }

    /// Whether another thread would go on if a guest kept this one. Of those that compute there is only one other.
    private var canHost: Bool {
        watch?.hasRoom == true && absentThreads.load(ordering: .relaxed) == 0
            && attention.load(ordering: .relaxed) != .ended
    }

    /// Guests who have the thread one after the other and pay for it together: reading the clock for each of them is a part of
    /// a call that can be measured.
    struct Stay {
        static let mostGuests = 8

        let begin: Instant
        var guests = 0
    }

    /// Answers whether the loop is still this thread's.
    func host(_ job: UnownedJob, _ stay: inout Stay?) -> Bool {
        if let full = stay, full.guests == Stay.mostGuests { stay = Stay(begin: leave(full)) }
        let present = stay ?? Stay(begin: now)
        guard hospitality.isOpen(at: present.begin), canHost else {
            globalConcurrentExecutor.enqueue(ExecutorJob(job))
            return true
        }
        (stay, timeOfThisItem) = (nil, nil)
        hasGuest = true
        lend(forLong: false)
        job.runSynchronously(on: .pool)
        guard takeBack() else { return false }
        hasGuest = false
        stay = Stay(begin: present.begin, guests: present.guests + 1)
        return true
    }

    /// Nobody else comes now.
    func leave(_ stay: inout Stay?) {
        if let present = stay.take(), present.guests > 0 { _ = leave(present) }
    }

    private func leave(_ stay: Stay) -> Instant {
        // One that has called may have gone on with something else.
        let end = MonotonicClock.now
        hospitality.left(at: end, after: stay.begin.nanoseconds(to: end), guests: stay.guests)
        return end
    }

    /// By another thread, which goes on for one that a guest keeps.
    func wasKept() {
        hasGuest = false
        hospitality.wasAbused(at: MonotonicClock.now)
    }
}

extension UnownedSerialExecutor {
    /// No actor's: what tasks on the ordinary pool run on. The runtime holds two zeros for it.
    fileprivate static var pool: UnownedSerialExecutor { unsafeBitCast((0, 0), to: UnownedSerialExecutor.self) }
}
