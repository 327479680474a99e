// Every (phase, event) pair of a link's way from greeting to end.

import RPCWire
import Testing

@Suite struct `Life of a link` {
    private enum Step: CaseIterable { case greeting, open, closing, lost, over }

    private func life(_ step: Step, grace: Duration? = .seconds(60)) -> Life {
        var life = Life()
        if let grace { life.goesOn(for: grace) }
        switch step {
        case .greeting: break
        case .open: _ = life.greeted()
        case .closing: life.closes()
        case .lost: _ = life.lost(at: Instant(nanoseconds: 0))
        case .over: _ = life.end()
        }
        return life
    }

    private let minute = Instant(nanoseconds: 60_000_000_000)

    @Test func `greetings are exchanged once, and not when it is too late`() {
        for step in Step.allCases {
            var life = life(step)
            let before = life.phase
            let isGreeted = life.greeted()
            #expect(isGreeted == (step == .greeting))
            #expect(life.phase == (step == .greeting ? .open : before))
        }
    }

    @Test func `an end that says no more closes the link, unless it has no channel or is over`() {
        for step in Step.allCases {
            var life = life(step)
            let before = life.phase
            life.closes()
            #expect(life.phase == (step == .lost || step == .over ? before : .closing))
        }
    }

    @Test func `a session that goes on waits for its time, any other is not lost but over`() {
        for step in Step.allCases {
            var life = life(step)
            let goesOn = life.lost(at: Instant(nanoseconds: 0))
            #expect(goesOn == (step != .over))
            #expect(life.phase == (step == .over ? .over : .lost(until: minute)))
            var short = self.life(step, grace: nil)
            let isLost = short.lost(at: Instant(nanoseconds: 0))
            #expect(!isLost)
        }
        var patient = Life()
        patient.goesOn(for: Life.forEver)
        let waits = patient.lost(at: minute)
        #expect(waits && patient.phase == .lost(until: .distantFuture))
    }

    @Test func `it is open again over another channel, until it is over`() {
        for step in Step.allCases {
            var life = life(step)
            life.resumed()
            #expect(life.phase == (step == .over ? .over : .open))
        }
    }

    @Test func `it is over once, and no way leads back`() {
        for step in Step.allCases {
            var life = life(step)
            let isFirst = life.end()
            #expect(isFirst == (step != .over))
            life.goesOn(for: .seconds(1))
            #expect(life.phase == .over && !life.isResumable)
        }
    }
}
