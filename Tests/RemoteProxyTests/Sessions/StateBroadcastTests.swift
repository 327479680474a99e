// States that are told while listeners come and go.

import TestSupport
import Testing

@testable import RemoteProxy

@Suite(.waitsForOthers) struct `States that are told` {
    /// The runtime holds a lock of the listening task while it is cancelled, and takes it when the task gets a state.
    @Test func `keep no thread of a listener that is cancelled at the same moment`() async {
        let states = StateBroadcast(0)
        for round in 1...3_000 {
            let listener = Task { for await state in states.subscribe() where state < 0 {} }
            let sender = Task { for step in 0..<4 { states.send(round * 4 + step) } }
            await Task.yield()
            listener.cancel()
            await sender.value
            await listener.value
        }
    }

    @Test func `come in the order in which they were told, to each listener from the state of its time on`() async {
        let states = StateBroadcast(0)
        let early = states.subscribe()
        for state in 1...3 { states.send(state) }
        let late = states.subscribe()
        states.send(3)
        states.send(4)
        states.finish()
        var (heardEarly, heardLate) = ([Int](), [Int]())
        for await state in early { heardEarly.append(state) }
        for await state in late { heardLate.append(state) }
        #expect(heardEarly == [0, 1, 2, 3, 4] && heardLate == [3, 4])
    }
}
