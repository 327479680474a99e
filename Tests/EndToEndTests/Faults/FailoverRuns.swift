// The active one of two servers is killed or stopped while it has calls in flight.

import Faults
import Foundation
import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

extension FaultRuns {
    @Test(arguments: [SIGKILL, SIGSTOP])
    func `calls in flight go to the standby, or end, when the active server is killed or stopped`(signal: Int32)
        async throws
    {
        let house = try LedgerHouse()
        let (active, activeURL) = try house.start(at: "tcp://127.0.0.1:0")
        let (standby, standbyURL) = try house.start(at: "tcp://127.0.0.1:0", hasOwnBook: true)
        // What the test would wait for if a call waited for anything but the keepalive time.
        var configuration = RPCClient.Configuration.patient
        configuration.connectTimeout = .seconds(3_600)
        // Long enough for a server that only waits for its turn on a busy machine.
        configuration.keepalive = Keepalive(interval: .seconds(1), timeout: .seconds(3))
        let clients = [RPCClient(activeURL, configuration), RPCClient(standbyURL, configuration)]
        let ledger = Faults.LedgerProxy.failover(clients.map { Faults.LedgerProxy($0) })
        #expect(try await ledger.add(caller: 1, number: 1) == 1)

        let change = Task { try await ledger.addSlowly(caller: 1, number: 2, milliseconds: 3_600_000) }
        // A file wakes nobody: so it is looked at again.
        await until { house.entries.executions.count == 2 }
        active.signal(signal)
        let stopped = MonotonicClock.now
        // Answered by the active server if the signal takes its time.
        #expect(try await ledger.again(number: 7) == 7)
        let error = await #expect(throws: RPCError.self) { try await change.value }
        #expect(error?.code == .connectionLost && error?.outcome == .unknown)
        let time = stopped.duration(to: MonotonicClock.now)
        #expect(time < (signal == SIGSTOP ? .seconds(5) : .seconds(1)) + Self.slack)
        #expect(try await ledger.add(caller: 1, number: 3) == 1)
        print("\(signal == SIGKILL ? "killed" : "stopped"): all calls ended after \(time)")

        active.signal(SIGKILL)
        #expect(active.end().code == -SIGKILL)
        standby.signal(SIGTERM)
        #expect(standby.end().code == 0)
        let executions = house.entries.executions.map(\.name.number)
        #expect(executions == [1, 2, 3])
    }

    @Test(arguments: [false, true])
    func `a crowd goes on at the other of two servers, whichever is killed, and nothing runs twice`(mayRepeat: Bool)
        async throws
    {
        let (houses, house) = ([try LedgerHouse(), try LedgerHouse()], try LedgerHouse())
        var servers = try houses.map { try house.start(at: $0.url, hasOwnBook: true).server }
        let clients = houses.map { RPCClient($0.url, .eager) }
        let ledger = Faults.LedgerProxy.failover(clients.map { Faults.LedgerProxy($0) })
        let crowd = Crowd(calling: ledger, mayRepeat: mayRepeat)
        let calling = Task { await crowd.call(isPosting: false) }
        var kills: [Instant] = []
        for round in 0..<Self.size(4, full: 40) {
            await crowd.proceed(by: 500)
            kills.append(MonotonicClock.now)
            servers[round % 2].signal(SIGKILL)
            #expect(servers[round % 2].end().code == -SIGKILL)
            await crowd.proceed(by: 500)
            servers[round % 2] = try house.start(at: houses[round % 2].url, hasOwnBook: true).server
        }
        await crowd.proceed(by: 500)
        crowd.stop()
        await calling.value

        let records = crowd.history.calls
        if mayRepeat {
            #expect(records.allSatisfy { $0.endings.first?.ending == .executed($0.name.number) })
        } else {
            expectNone(house.faults(crowd, isCounter: false))
        }
        #expect(records.count(.unknown) <= kills.count * 64 && records.count(.notExecuted) == 0)
        // A call that was in flight ends soon after the kill, though no server comes back to its place before.
        let waits = kills.flatMap { kill in
            records.compactMap { call -> Duration? in
                guard call.invoked < kill, let end = call.endings.first?.at, end > kill else { return nil }
                return kill.duration(to: end)
            }
        }
        let longest = waits.max() ?? .zero
        #expect(longest < .seconds(1) + Self.slack + crowd.machineLateness)
        print(
            "killed \(kills.count) of two: \(records.count(.unknown)) of \(records.count) unknown, \(waits.count) in flight, at most \(longest) after, machine \(crowd.machineLateness)"
        )
    }
}
