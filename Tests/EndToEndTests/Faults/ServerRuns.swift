// The server is killed, held up, or told to leave, under a crowd that calls on.

import Faults
import Foundation
import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

extension FaultRuns {
    @Test func `a server that is killed and started again loses what was running, and nobody waits for it`()
        async throws
    {
        let house = try LedgerHouse()
        var server = try house.start().server
        let crowd = Crowd(RPCClient(house.url, .eager), timeout: .seconds(5))
        let calling = Task { await crowd.call() }
        var absences: [ClosedRange<Instant>] = []
        for _ in 0..<Self.size(3, full: 20) {
            await crowd.proceed(by: 500)
            let killed = MonotonicClock.now
            server.signal(SIGKILL)
            #expect(server.end().code == -SIGKILL)
            // An absence of a real process takes real time, and nothing tells when it has been long enough.
            try await Task.sleep(for: .milliseconds(Self.size(30, full: 300)))
            server = try house.start().server
            absences.append(killed...MonotonicClock.now)
        }
        await crowd.proceed(by: 500)
        crowd.stop()
        await calling.value

        expectNone(house.faults(crowd))
        let lost = crowd.history.calls.filter { $0.endings.first?.ending == .unknown }
        #expect(lost.count <= absences.count * 64)
        let allowed = .milliseconds(50) + Self.slack + crowd.machineLateness
        let late =
            lost.compactMap { call in call.endings.first.map { wait(after: absences, until: $0.at) } }.max() ?? .zero
        #expect(late <= allowed)
        print(
            "killed \(absences.count) times: \(lost.count) of \(crowd.history.calls.count) unknown, at most \(late) after, machine \(crowd.machineLateness)"
        )
    }

    @Test(arguments: [SIGKILL, SIGTERM])
    func `callers of what may run twice notice nothing of a restart but the time it takes`(signal: Int32)
        async throws
    {
        let house = try LedgerHouse()
        var server = try house.start().server
        let crowd = Crowd(RPCClient(house.url, .eager), mayRepeat: true)
        let calling = Task { await crowd.call(isPosting: false) }
        var restarts: [Instant] = []
        for _ in 0..<Self.size(3, full: 20) {
            await crowd.proceed(by: 500)
            server.signal(signal)
            #expect(server.end().code == (signal == SIGKILL ? -SIGKILL : 0))
            // As above.
            try await Task.sleep(for: .milliseconds(Self.size(30, full: 300)))
            server = try house.start().server
            restarts.append(MonotonicClock.now)
        }
        await crowd.proceed(by: 500)
        crowd.stop()
        await calling.value

        let records = crowd.history.calls
        expectNone(HistoryCheck(records).faultsInEnding(slack: Self.slack + crowd.machineLateness))
        #expect(records.allSatisfy { $0.endings.first?.ending == .executed($0.name.number) })
        let waits = restarts.flatMap { restart in
            records.compactMap { call -> Duration? in
                guard call.invoked < restart, let end = call.endings.first?.at, end > restart else { return nil }
                return restart.duration(to: end)
            }
        }
        let longest = waits.max() ?? .zero
        #expect(!waits.isEmpty && longest < .milliseconds(1_500) + Self.slack + crowd.machineLateness)
        print(
            "restarted \(restarts.count) times: \(records.answered) of \(records.count) answered, \(waits.count) had to wait, at most \(longest) after, machine \(crowd.machineLateness)"
        )
    }

    @Test func `a server that stands still keeps nobody beyond a deadline, and runs nothing twice`() async throws {
        let house = try LedgerHouse()
        let (server, url) = try house.start()
        let crowd = Crowd(RPCClient(url, .eager), timeout: .milliseconds(100))
        let calling = Task { await crowd.call() }
        for _ in 0..<Self.size(2, full: 20) {
            await crowd.proceed(by: 500)
            server.signal(SIGSTOP)
            // So does a standstill: longer than the deadlines of the calls.
            try await Task.sleep(for: .milliseconds(Self.size(300, full: 3_000)))
            server.signal(SIGCONT)
        }
        await crowd.proceed(by: 500)
        crowd.stop()
        await calling.value
        server.signal(SIGTERM)
        #expect(server.end().code == 0)

        expectNone(house.faults(crowd))
        let records = crowd.history.calls
        #expect(records.count(.unknown) > 0)
        let latest = records.compactMap { call in call.endings.first.map { call.deadline.duration(to: $0.at) } }.max()
        print(
            "stood still: \(records.count(.unknown)) of \(records.count) unknown, at most \(latest ?? .zero) late, machine \(crowd.machineLateness)"
        )
    }

    @Test func `servers that leave in good order lose no call`() async throws {
        let house = try LedgerHouse()
        var (server, url) = try house.start(at: "tcp://127.0.0.1:0", hasOwnBook: true)
        let proxy = try FaultProxy(to: url)
        let crowd = Crowd(RPCClient(proxy.url, .eager))
        let calling = Task { await crowd.call(slowly: 5) }
        for _ in 0..<Self.size(5, full: 200) {
            await crowd.proceed(by: 200)
            let leaving = server
            (server, url) = try house.start(at: "tcp://127.0.0.1:0", hasOwnBook: true)
            proxy.lead(to: url)
            leaving.signal(SIGTERM)
            #expect(leaving.end() == .init(code: 0, output: "", errors: ""))
        }
        await crowd.proceed(by: 200)
        crowd.stop()
        await calling.value
        server.signal(SIGTERM)
        #expect(server.end().code == 0)

        // Two of them count at a time, each by itself.
        expectNone(house.faults(crowd, isCounter: false))
        let records = crowd.history.calls
        #expect(records.answered == records.count)
        // Nobody had to wait for long until a call was at the next server.
        let longest = records.compactMap { call in call.endings.first.map { call.invoked.duration(to: $0.at) } }.max()
        #expect(longest ?? .zero < .seconds(1) + Self.slack + crowd.machineLateness)
        print(
            "drained: \(records.answered) of \(records.count) answered, at most \(longest ?? .zero) after, machine \(crowd.machineLateness)"
        )
    }

    /// How long after the end of the latest absence. Until then a call may yet be answered.
    private func wait(after absences: [ClosedRange<Instant>], until end: Instant) -> Duration {
        max(absences.last { $0.lowerBound <= end }?.upperBound.duration(to: end) ?? .zero, .zero)
    }
}
