// Three servers deep: what is decided at the root is felt at the leaf.

import Faults
import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

extension FaultRuns {
    /// Three processes, each of which asks the next, and a way to the first.
    private struct Chain {
        let house: LedgerHouse
        let servers: [ServerProgram]
        let first: Faults.LedgerProxy

        init() throws {
            house = try LedgerHouse()
            var (servers, url): ([ServerProgram], Endpoint?) = ([], nil)
            for _ in 0..<3 {
                let (server, bound) = try house.start(at: "tcp://127.0.0.1:0", next: url)
                servers.append(server)
                url = bound
            }
            self.servers = servers
            first = Faults.LedgerProxy(RPCClient(url ?? "", .patient))
        }

        /// Waits for the processes. They tell nobody but their file, and a file wakes nobody: so it is looked at again.
        func entries(_ isComplete: ([LedgerFile.Entry]) -> Bool) async throws -> [LedgerFile.Entry] {
            while true {
                let entries = house.entries
                if isComplete(entries) { return entries }
                try await Task.sleep(for: .milliseconds(1))
            }
        }
    }

    private func timesLeft(_ entries: [LedgerFile.Entry]) -> [Duration] {
        entries.compactMap { if case .timeLeft(let duration) = $0 { duration } else { nil } }
    }

    private func cancellations(_ entries: [LedgerFile.Entry]) -> [Instant] {
        entries.compactMap { if case .cancelled(let at) = $0 { at } else { nil } }
    }

    /// Row C12 of "What became of my call".
    @Test func `a call that is cancelled at the root is cancelled at the leaf, three servers away`() async throws {
        let chain = try Chain()
        try await chain.first.pass(waitingMilliseconds: 0)
        let first = chain.first
        let call = Task { try await first.pass(waitingMilliseconds: 60_000) }
        _ = try await chain.entries { timesLeft($0).count == 6 }
        let lateness = Lateness()
        let began = MonotonicClock.now
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        let entries = try await chain.entries { cancellations($0).count == 3 }
        let last = cancellations(entries).max().map { began.duration(to: $0) } ?? .zero
        print("cancelled three servers away after \(last)")
        #expect(last < Self.slack + lateness.stop() * 6, "three servers, which are all as late as the machine")
    }

    /// Row C9 of "What became of my call".
    @Test func `the time given at the root holds for each server on the way`() async throws {
        let chain = try Chain()
        try await chain.first.pass(waitingMilliseconds: 0)
        let timeout = Duration.milliseconds(Self.isFull ? 500 : 2_000)
        let lateness = Lateness()
        let began = MonotonicClock.now
        let error = await #expect(throws: RPCError.self) {
            try await withCallTimeout(timeout) { try await chain.first.pass(waitingMilliseconds: 60_000) }
        }
        #expect(error?.code == .deadlineExceeded && error?.outcome != .notExecuted)
        let entries = try await chain.entries { cancellations($0).count == 3 }
        let left = timesLeft(entries).suffix(3)
        #expect(left.count == 3)
        // On the wire the time left is a whole number of milliseconds, rounded up.
        for (before, after) in zip([timeout] + left, left) { #expect(after < before + .milliseconds(1)) }
        let latest = timeout + Self.slack + lateness.stop() * 6
        for end in cancellations(entries) { #expect(began.duration(to: end) < latest) }
        print("of \(timeout) there were left \(left)")
    }
}
