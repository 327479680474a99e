// Every (step, event) pair of a connection's way from greeting to end.

import RPCWire
import Testing

@Suite struct `Phases of a connection` {
    private func phase(_ step: ConnectionPhase.Step) -> ConnectionPhase {
        var phase = ConnectionPhase()
        switch step {
        case .greeting: break
        case .open: _ = phase.greeted()
        case .ending: phase.left()
        case .over: _ = phase.closed()
        }
        return phase
    }

    private static let steps: [ConnectionPhase.Step] = [.greeting, .open, .ending, .over]

    @Test(arguments: steps)
    func `greetings are exchanged once, and not when it is too late`(_ step: ConnectionPhase.Step) {
        var phase = phase(step)
        #expect(phase.step == step)
        let isGreeted = phase.greeted()
        #expect(isGreeted == (step == .greeting))
        #expect(phase.step == (step == .greeting ? .open : step))
    }

    @Test(arguments: steps)
    func `whoever leaves ends the connection, unless it is over`(_ step: ConnectionPhase.Step) {
        var phase = phase(step)
        phase.left()
        #expect(phase.step == (step == .over ? .over : .ending))
    }

    @Test(arguments: steps)
    func `it is over once`(_ step: ConnectionPhase.Step) {
        var phase = phase(step)
        let isFirst = phase.closed()
        #expect(isFirst == (step != .over))
        #expect(phase.step == .over)
    }
}
