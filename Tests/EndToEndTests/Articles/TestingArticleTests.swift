// How to test services of one's own with Swift Testing: the code that an article shows, as a suite.

import RPCServer
import RemoteProxy
import TestSupport
import Testing

import struct RPCSockets.Lock

@Service(errors: BankFailure.self)
protocol Bank: Sendable {
    @ReadOnly func balance() async throws -> Int
    func withdraw(_ amount: Int) async throws -> Int
    func audit() async throws -> String
}

enum BankFailure: Error, Codable, Equatable { case tooLittle(Int) }

/// The service under test.
final class SmallBank: Bank {
    private let money = Lock(100)
    /// Tells when an audit begins and when it ends.
    let events = AsyncStream.makeStream(of: String.self)

    func balance() async throws -> Int { money.withLock { $0 } }

    func withdraw(_ amount: Int) async throws -> Int {
        try money.withLock { money in
            guard money >= amount else { throw BankFailure.tooLittle(money) }
            money -= amount
            return money
        }
    }

    /// Takes an hour, unless it is cancelled.
    func audit() async throws -> String {
        events.continuation.yield("began")
        defer { events.continuation.yield("ended") }
        try await Task.sleep(for: .seconds(3_600))
        return "all is well"
    }
}

@Suite(.waitsForOthers) struct BankTests {
    let bank = SmallBank()
    let server = RPCServer()
    let ann = Identity(name: "ann", roles: ["teller"])

    init() {
        server.export(BankProxy(bank).guarded(by: .readOnly.or(.role("teller"))))
    }

    func client(as identity: Identity?) -> any Bank {
        BankProxy(RPCClient(.inProcess(server, as: identity)))
    }

    @Test func `a teller withdraws`() async throws {
        #expect(try await client(as: ann).withdraw(30) == 70)
        #expect(try await client(as: nil).balance() == 70)
    }

    @Test func `an error arrives as itself`() async throws {
        let client = client(as: ann)
        await #expect(throws: BankFailure.tooLittle(100)) { try await client.withdraw(101) }
    }

    @Test func `other callers may only read`() async throws {
        let client = client(as: nil)
        let error = await #expect(throws: RPCError.self) { try await client.withdraw(1) }
        #expect(error?.code == .denied && error?.outcome == .notExecuted)
    }

    @Test func `a call that is cancelled stops the work`() async throws {
        let client = client(as: ann)
        let call = Task { try await client.audit() }
        var events = bank.events.stream.makeAsyncIterator()
        #expect(await events.next() == "began")
        call.cancel()
        #expect(await events.next() == "ended")
        await #expect(throws: CancellationError.self) { try await call.value }
    }
}
