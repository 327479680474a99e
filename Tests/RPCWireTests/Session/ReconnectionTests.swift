// Every (phase, event) pair of a client's connection, and the waits in between.

import RPCWire
import Testing

@Suite struct `Dialling again` {
    private static let now = Instant(nanoseconds: 5)

    enum Start: CaseIterable { case idle, connecting, connected, waiting, paused, closed }

    private func machine(_ start: Start) -> Reconnection {
        var machine = Reconnection(backoff: ExponentialBackoff())
        if start != .idle { _ = machine.wanted() }
        if start == .connected { _ = machine.connected(at: Self.now) }
        if start == .waiting { _ = machine.lost(at: Self.now, chance: 0.5) }
        if start == .paused { _ = machine.pause() }
        if start == .closed { _ = machine.close() }
        return machine
    }

    @Test(arguments: Start.allCases)
    func `only the first call dials`(_ start: Start) {
        var machine = machine(start)
        #expect(machine.wanted() == (start == .idle ? .dial : .nothing))
    }

    @Test(arguments: Start.allCases)
    func `an attempt that is not needed is left to the next call`(_ start: Start) {
        var machine = machine(start)
        #expect(machine.rest() == (start == .connecting))
        if start == .connecting { #expect(machine.phase == .idle && machine.wanted() == .dial) }
    }

    @Test(arguments: Start.allCases)
    func `a connection counts only while one is being made`(_ start: Start) {
        var machine = machine(start)
        #expect(machine.connected(at: Self.now) == (start == .connecting))
    }

    @Test(arguments: Start.allCases)
    func `a loss waits only where there was something to lose`(_ start: Start) {
        var machine = machine(start)
        let action = machine.lost(at: Self.now, chance: 0.5)
        let until = Self.now.advanced(by: .milliseconds(50))
        #expect(action == (start == .connecting || start == .connected ? .wait(until: until) : .nothing))
    }

    @Test(arguments: Start.allCases)
    func `a connection that was of use or has lasted is replaced at once`(_ start: Start) {
        for (wasOfUse, lasted) in [(true, Duration.zero), (false, .seconds(1))] {
            var machine = machine(start)
            let action = machine.lost(at: Self.now.advanced(by: lasted), chance: 0, wasOfUse: wasOfUse)
            let until = Self.now.advanced(by: lasted)
            #expect(action == (start == .connected ? .dial : start == .connecting ? .wait(until: until) : .nothing))
            // Once: if that attempt fails, the next one waits.
            if start == .connected { #expect(machine.lost(at: until, chance: 0) == .wait(until: until)) }
        }
    }

    @Test(arguments: Start.allCases)
    func `a server that leaves is not dialled at once`(_ start: Start) {
        var machine = machine(start)
        let later = Self.now.advanced(by: .seconds(1))
        let action = machine.left(at: later, chance: 0)
        #expect(action == (start == .connecting || start == .connected ? .wait(until: later) : .nothing))
    }

    @Test(arguments: Start.allCases)
    func `the end of a wait dials, unless closed meanwhile`(_ start: Start) {
        var machine = machine(start)
        #expect(machine.waited() == (start == .waiting ? .dial : .nothing))
    }

    @Test(arguments: Start.allCases)
    func `closing is final and happens once`(_ start: Start) {
        var machine = machine(start)
        #expect(machine.close() == (start != .closed))
        let isClosedAgain = machine.close()
        #expect(!isClosedAgain)
        #expect(machine.wanted() == .nothing)
        let isConnected = machine.connected(at: Self.now)
        #expect(!isConnected)
        #expect(machine.lost(at: Self.now, chance: 0) == .nothing)
        #expect(machine.waited() == .nothing)
    }

    @Test(arguments: Start.allCases)
    func `nothing is dialled during a pause, which begins once`(_ start: Start) {
        var machine = machine(start)
        #expect(machine.pause() == (start != .paused && start != .closed))
        let isPausedAgain = machine.pause()
        #expect(!isPausedAgain)
        #expect(machine.phase == (start == .closed ? .closed : .paused))
        #expect(machine.wanted() == .nothing && machine.waited() == .nothing)
        let isConnected = machine.connected(at: Self.now)
        #expect(!isConnected)
        #expect(machine.lost(at: Self.now, chance: 0) == .nothing && machine.left(at: Self.now, chance: 0) == .nothing)
    }

    @Test(arguments: Start.allCases)
    func `after a pause the next caller dials, and earlier failures are forgotten`(_ start: Start) {
        var machine = machine(start)
        guard start == .paused else {
            let phase = machine.phase
            let wasPaused = machine.resume()
            #expect(!wasPaused && machine.phase == phase)
            return
        }
        _ = machine.resume()
        for _ in 0..<5 {
            _ = machine.wanted()
            _ = machine.waited()
            _ = machine.lost(at: Self.now, chance: 1)
        }
        let hasPaused = machine.pause()
        let wasPaused = machine.resume()
        #expect(hasPaused && wasPaused && machine.phase == .idle && !machine.hasFailedBefore)
        #expect(machine.wanted() == .dial)
        #expect(machine.lost(at: Self.now, chance: 1) == .wait(until: Self.now.advanced(by: .milliseconds(100))))
    }

    @Test func `waits double up to the limit, and begin anew behind a connection that was of use`() {
        var machine = machine(.connecting)
        var waits: [Int64] = []
        for _ in 0..<9 {
            guard case .wait(let until) = machine.lost(at: Instant(nanoseconds: 0), chance: 1) else { break }
            waits.append(until.nanoseconds / 1_000_000)
            _ = machine.waited()
        }
        #expect(waits == [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000])
        // A greeting alone is no use: the server may take connections only to drop them.
        let later = Self.now.advanced(by: .milliseconds(999))
        _ = machine.connected(at: Self.now)
        #expect(machine.lost(at: later, chance: 1) == .wait(until: later.advanced(by: .seconds(10))))
        // But who calls now does not wait so long.
        #expect(machine.wanted() == .wait(until: later.advanced(by: .seconds(1))))
        _ = machine.waited()
        _ = machine.connected(at: later)
        let left = machine.left(at: later, chance: 1, wasOfUse: true)
        #expect(left == .wait(until: later.advanced(by: .milliseconds(100))))
    }

    @Test func `a server that answers a call and drops is dialled at once only once, then less and less often`() {
        var machine = machine(.connecting)
        var waits: [Int64] = []
        var now = Self.now
        for _ in 0..<10 {
            _ = machine.connected(at: now)
            now = now.advanced(by: .milliseconds(1))
            switch machine.lost(at: now, chance: 1, wasOfUse: true) {
            case .dial: waits.append(0)
            case .wait(let until):
                waits.append(now.nanoseconds(to: until) / 1_000_000)
                now = until
                _ = machine.waited()
            case .nothing: Issue.record("the client gives up")
            }
        }
        #expect(waits == [0, 100, 200, 400, 800, 1_000, 1_000, 1_000, 1_000, 1_000])
        // One that leaves in order is no better, until a connection has lasted.
        _ = machine.connected(at: now)
        #expect(machine.left(at: now, chance: 1, wasOfUse: true) == .wait(until: now.advanced(by: .seconds(1))))
        _ = machine.waited()
        _ = machine.connected(at: now)
        now = now.advanced(by: .seconds(1))
        for _ in 0..<2 {
            #expect(machine.lost(at: now, chance: 1, wasOfUse: true) == .dial)
            _ = machine.connected(at: now)
        }
        #expect(machine.lost(at: now, chance: 1, wasOfUse: true) == .wait(until: now.advanced(by: .milliseconds(100))))
    }

    @Test(arguments: [(true, Duration.zero), (false, .seconds(1))])
    func `the loss of a good connection makes the next failure the first`(_ wasOfUse: Bool, _ lasted: Duration) {
        var machine = machine(.connecting)
        for _ in 0..<9 {
            _ = machine.lost(at: Self.now, chance: 1)
            _ = machine.waited()
        }
        _ = machine.connected(at: Self.now)
        let end = Self.now.advanced(by: lasted)
        #expect(machine.lost(at: end, chance: 1, wasOfUse: wasOfUse) == .dial)
        #expect(machine.lost(at: end, chance: 1) == .wait(until: end.advanced(by: .milliseconds(100))))
    }

    @Test func `a new caller is not kept waiting for an attempt that will fail again`() {
        var machine = Reconnection(backoff: ExponentialBackoff(base: .seconds(4)))
        _ = machine.wanted()
        #expect(machine.lost(at: Self.now, chance: 0.5) == .wait(until: Self.now.advanced(by: .seconds(2))))
        #expect(machine.wanted() == .nothing)
        machine.willFailAgain(at: Self.now)
        let soonest = Self.now.advanced(by: .seconds(1))
        #expect(machine.wanted() == .wait(until: soonest) && machine.phase == .waiting(until: soonest))
        #expect(machine.wanted() == .nothing)
        // Only for this wait, and never longer than the wait itself.
        _ = machine.waited()
        #expect(machine.lost(at: soonest, chance: 0.5) == .wait(until: soonest.advanced(by: .seconds(4))))
        #expect(machine.wanted() == .nothing)
        _ = machine.waited()
        _ = machine.lost(at: soonest, chance: 0.1)
        machine.willFailAgain(at: soonest)
        #expect(machine.wanted() == .nothing)
    }

    @Test(arguments: [-1, 0, 1, 62, 63, 64, Int.max])
    func `any count of failures has a wait within the limit`(_ failures: Int) {
        let backoff = ExponentialBackoff(base: .seconds(1), limit: .seconds(10))
        #expect((Duration.zero ... .seconds(10)).contains(backoff.delay(afterFailures: failures, chance: 0.999)))
        #expect(
            ExponentialBackoff(base: .seconds(Int64.max), limit: .seconds(3)).delay(afterFailures: failures, chance: 1)
                <= .seconds(3))
    }
}
