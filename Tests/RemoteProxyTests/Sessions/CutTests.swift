// A connection that breaks, at every single byte of a conversation and in every way a connection can: whatever had got
// through and whatever had not, each call is answered with its own answer, and nothing runs twice or not at all.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite(.computesForLong) struct `A cut at every byte` {
    /// What two calls, two posts and a call back to the client come to, hello included, in either direction.
    private static let length: UInt64 = 800

    @Test(arguments: WireFaults.Breakage.allCases, [false, true])
    func `of calls, posts and calls back leaves each run once, answered and in order`(
        _ how: WireFaults.Breakage, fromServer: Bool
    ) {
        var breaks = 0
        for offset in 0..<Self.length {
            let conversation = Conversation(offset, how, fromServer: fromServer)
            let faults = conversation.play()
            if !faults.isEmpty {
                Issue.record("cut at byte \(offset): \(faults.joined(separator: "; "))")
                return
            }
            breaks += conversation.hasBroken ? 1 : 0
        }
        // Otherwise the conversation was longer than the bytes that were tried.
        #expect(how == .silence || breaks > 200 && breaks < Self.length)
    }
}

private struct Conversation {
    private let network = SimulatedNetwork()
    private let probe: RecordingProbe
    private let clientProbe: RecordingProbe
    private let client: RPCClient
    private let how: WireFaults.Breakage
    private let answers = Lock<[String]>([])

    init(_ offset: UInt64, _ how: WireFaults.Breakage, fromServer: Bool) {
        self.how = how
        probe = RecordingProbe(network.loop)
        clientProbe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
        network.exports.add(ProbeProxy(Returning()), named: "back")
        var faults = WireFaults()
        faults.breaksAt = (offset, how)
        network.injectOnce(faults, fromServer: fromServer)
        // That posts are lost where a session cannot go on is audited, and no news.
        var configuration = RPCClient.Configuration()
        configuration.log = { _ in }
        client = network.client(configuration)
        client.export(ProbeProxy(clientProbe))
    }

    var hasBroken: Bool { network.dials > 1 }

    func play() -> [String] {
        let (near, back) = (ProbeProxy(client), ProbeProxy(client, named: "back"))
        near.note(1)
        ask(1) { try await near.echo(1) }
        ask(2) { try await back.echo(2) }
        near.note(2)
        network.loop.run()
        // With silence nobody is told: the client gives up at some time, the server does not.
        if how == .silence { network.giveUpSilentConnections() }
        network.loop.advance(by: .seconds(20))
        let faults = audit()
        client.close()
        network.shutDown()
        return faults
    }

    private func ask(_ number: Int, _ call: @escaping @Sendable () async throws -> Int) {
        Task(executorPreference: network.loop) { [answers] in
            do {
                let answer = try await call()
                answers.withLock { $0.append("\(number): \(answer)") }
            } catch {
                answers.withLock { $0.append("\(number): \(error)") }
            }
        }
    }

    private func audit() -> [String] {
        var faults: [String] = []
        let answers = answers.withLock { $0.sorted() }
        if answers != ["1: 1", "2: 2"] { faults.append("the answers are \(answers)") }
        if probe.executed != [1] { faults.append("the server ran \(probe.executed)") }
        if clientProbe.executed != [2] { faults.append("the client ran \(clientProbe.executed)") }
        if probe.noted != [1, 2] { faults.append("the posts are \(probe.noted)") }
        if network.sessions.count > 2 { faults.append("\(network.sessions.count) sessions") }
        return faults
    }
}

/// Asks its caller for the answer.
private struct Returning: Probe {
    func echo(_ number: Int) async throws -> Int {
        guard let caller = Caller.current else { return 0 }
        return try await ProbeProxy(caller).echo(number)
    }
    func fail(_ number: Int) async throws -> Int { number }
    func wait(_ number: Int, milliseconds: Int) async throws -> Int { number }
    func refuse(_ number: Int) async throws -> Int { number }
    func note(_ number: Int) {}
}
