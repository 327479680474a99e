// What is known about a counted object from outside, by other means than its own: who ought to hold it, which one there
// is, whether one is being made or let go. Complains about whatever must not be.

import RPCSockets
import RPCWire
import TestSupport

@testable import RemoteProxy

final class CountedBook: Sendable {
    private struct State {
        var random: SeededGenerator
        var made = 0
        /// The one that there is.
        var present: Int?
        var isMaking = false
        var isLettingGo = false
        var hasFailed = false
        var calls = 0
        /// The posts that are not delivered, by their session; nil for those that were made here.
        var posts: [Caller.ID?: Int] = [:]
        /// The posts of sessions that are over. They are dropped, or delivered if their client left in good order.
        var leftBehind = 0
        /// Handles, and references at other ends.
        var handles = 0
        var faults: [String] = []
    }

    private let loop: ManualLoop
    private let state: Lock<State>

    init(_ loop: ManualLoop, seed: UInt64) {
        self.loop = loop
        state = Lock(State(random: SeededGenerator(seed: seed)))
    }

    var made: Int { state.withLock { $0.made } }
    var exists: Bool { state.withLock { $0.present != nil } }
    /// Whether the last one could not be made.
    var hasFailed: Bool { state.withLock { $0.hasFailed } }
    var isBusy: Bool { state.withLock { $0.isMaking || $0.isLettingGo } }
    /// How many ought to hold.
    var holders: Int { state.withLock { $0.handles + $0.calls + $0.posts.values.reduce(0, +) } }
    /// How many more may hold.
    var leftBehind: Int { state.withLock { $0.leftBehind } }
    var faults: [String] { state.withLock { $0.faults } }

    func complain(_ fault: String) { state.withLock { $0.faults.append(fault) } }

    /// Takes up to 50 ms, or none.
    private func pause() async {
        let milliseconds = state.withLock { state in
            Bool.random(using: &state.random) ? 0 : Int.random(in: 1...50, using: &state.random)
        }
        if milliseconds > 0 { try? await loop.sleep(for: .milliseconds(milliseconds)) }
    }

    // MARK: those who come

    func enter() { state.withLock { $0.calls += 1 } }

    func leave() { state.withLock { $0.calls -= 1 } }

    func handle(_ change: Int) { state.withLock { $0.handles += change } }

    /// It holds until it has been delivered, or until making has failed.
    func posted() {
        let session = CallScope.current?.caller?.id
        let isFirst = state.withLock { state in
            state.posts[session, default: 0] += 1
            return state.posts[session] == 1
        }
        guard isFirst, let caller = CallScope.current?.caller else { return }
        caller.whenGone { [self] in
            state.withLock { state in state.leftBehind += state.posts.removeValue(forKey: session) ?? 0 }
        }
    }

    // MARK: the object

    func make() async throws -> any Child {
        state.withLock { state in
            if state.isMaking { state.faults.append("two are made at once") }
            if state.present != nil || state.isLettingGo { state.faults.append("one is made while there is one") }
            state.isMaking = true
            state.hasFailed = false
        }
        await pause()
        return try state.withLock { state in
            state.isMaking = false
            guard Int.random(in: 0..<8, using: &state.random) > 0 else {
                state.hasFailed = true
                (state.posts, state.leftBehind) = ([:], 0)
                throw Nursery.Stillborn()
            }
            state.made += 1
            state.present = state.made
            return BookedChild(number: state.made, book: self)
        }
    }

    func letGo(_ child: any Child) async {
        let number = (child as? BookedChild)?.number
        state.withLock { state in
            if state.present == nil || state.present != number {
                state.faults.append("\(number ?? 0) is let go, and there is \(state.present ?? 0)")
            }
            state.present = nil
            state.isLettingGo = true
        }
        await pause()
        state.withLock { $0.isLettingGo = false }
    }

    fileprivate func used(_ number: Int) {
        state.withLock { state in
            if state.present != number { state.faults.append("\(number) is used, and there is \(state.present ?? 0)") }
        }
    }

    fileprivate func delivered(_ number: Int) {
        used(number)
        let session = CallScope.current?.caller?.id
        state.withLock { state in
            if let count = state.posts[session] {
                state.posts[session] = count == 1 ? nil : count - 1
            } else {
                state.leftBehind -= 1
            }
        }
    }

    fileprivate func work(_ number: Int) async {
        used(number)
        await pause()
        used(number)
    }
}

private struct BookedChild: Child {
    let number: Int
    let book: CountedBook

    func number() async throws -> Int {
        await book.work(number)
        return number
    }
    func hear(_ text: String) { book.delivered(number) }
}
