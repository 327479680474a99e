// Closures as arguments: called at their own end, kept for as long as the other end keeps them.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Service
protocol Porter: Sendable {
    func carry(_ weight: Int, progress: @escaping @Sendable (Int) -> Void) async throws -> String
    func ask(
        _ question: @escaping @Sendable (String, Int) async throws -> Bool, done: @escaping @Sendable () -> Void
    ) async throws -> Bool
    func keep(_ bell: @escaping @Sendable (_ times: Int) async throws -> Void) async throws
    func ring(_ times: Int) async throws
    func drop() async throws
    func notify(_ text: String, _ hear: @escaping @Sendable (String) -> Void)
}

private final class HotelPorter: Porter {
    let bell = Lock<(@Sendable (Int) async throws -> Void)?>(nil)

    func carry(_ weight: Int, progress: @escaping @Sendable (Int) -> Void) async throws -> String {
        for step in 1...weight { progress(step) }
        return "carried \(weight)"
    }

    func ask(
        _ question: @escaping @Sendable (String, Int) async throws -> Bool, done: @escaping @Sendable () -> Void
    ) async throws -> Bool {
        defer { done() }
        return try await question("heavy", 5)
    }

    func keep(_ bell: @escaping @Sendable (Int) async throws -> Void) async throws { self.bell.withLock { $0 = bell } }

    func ring(_ times: Int) async throws {
        guard let bell = bell.withLock({ $0 }) else { throw RPCError(.noSuchObject, "no bell", outcome: .executed) }
        try await bell(times)
    }

    func drop() async throws { bell.withLock { $0 = nil } }
    func notify(_ text: String, _ hear: @escaping @Sendable (String) -> Void) { hear("heard \(text)") }
}

@Suite struct `Closures` {
    private let network = SimulatedNetwork()
    private let porter = HotelPorter()
    private let client: RPCClient
    private let proxy: PorterProxy
    private let heard = Lock<[String]>([])

    init() {
        network.exports.add(PorterProxy(porter), named: nil)
        client = network.client()
        proxy = PorterProxy(client)
    }

    private func complete<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
        try network.loop.complete(body)
    }

    private func hear(_ text: String) { heard.withLock { $0.append(text) } }

    /// How many objects the client has given and the server has.
    private var given: Int { client.requester.link?.objects.givenCount ?? 0 }

    @Test func `without a reply are posts, in order`() throws {
        #expect(try complete { try await proxy.carry(3) { hear("\($0)") } } == "carried 3")
        network.loop.advance(by: .milliseconds(100))
        #expect(heard.withLock { $0 } == ["1", "2", "3"])
    }

    @Test func `with a reply are calls, of any number of arguments`() throws {
        let isAsked = try complete {
            try await proxy.ask { what, times in
                hear("\(what) \(times)")
                return times == 5
            } done: {
                hear("done")
            }
        }
        #expect(isAsked)
        #expect(heard.withLock { $0 } == ["heavy 5", "done"])
    }

    @Test func `may be arguments of a post`() throws {
        try complete {
            proxy.notify("news") { hear($0) }
            try await proxy.drop()
        }
        network.loop.advance(by: .milliseconds(100))
        #expect(heard.withLock { $0 } == ["heard news"])
    }

    @Test func `stay for as long as the other end keeps them`() throws {
        let alive = Census()
        let reader = Lock<KeenReader?>(KeenReader(alive))
        try complete {
            let kept = reader.withLock { $0 }
            try await proxy.keep { times in
                withExtendedLifetime(kept) {}
                hear("rung \(times)")
            }
        }
        reader.withLock { $0 = nil }
        network.loop.advance(by: .seconds(2))
        #expect(alive.value == 1 && given == 1)
        try complete { try await proxy.ring(2) }
        #expect(heard.withLock { $0 } == ["rung 2"])
        try complete { try await proxy.drop() }
        network.loop.advance(by: .seconds(2))
        #expect(alive.value == 0 && given == 0)
    }

    @Test func `throw what they throw, and noSuchObject after their session`() throws {
        try complete { try await proxy.keep { _ in throw RPCError(.denied, "silence", outcome: .executed) } }
        let silence = #expect(throws: RPCError.self) { try complete { try await proxy.ring(1) } }
        #expect(silence?.code == .denied)
        let bell = porter.bell.withLock { $0 }
        network.restart()
        network.loop.advance(by: .seconds(2))
        let gone = #expect(throws: RPCError.self) { try complete { try await bell?(1) } }
        #expect(gone?.code == .noSuchObject && gone?.outcome == .notExecuted)
    }

    @Test func `are called directly in their own process`() async throws {
        #expect(try await PorterProxy(porter).carry(2) { hear("\($0)") } == "carried 2")
        #expect(heard.withLock { $0 } == ["1", "2"])
    }

    @Test func `go through a process in the middle`() throws {
        let middle = SimulatedNetwork(loop: network.loop)
        middle.exports.add(PorterProxy(client), named: nil)
        let far = middle.client()
        #expect(try complete { try await PorterProxy(far).carry(2) { hear("\($0)") } } == "carried 2")
        network.loop.advance(by: .milliseconds(100))
        #expect(heard.withLock { $0 } == ["1", "2"])
    }
}
