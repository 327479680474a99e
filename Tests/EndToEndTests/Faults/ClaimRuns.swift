// Who may go on with a session, over real sockets and between the threads of a server: one end at a time, its owner
// only, and not for ever.

import Dispatch
import Faults
import Protocols
import RPCSockets
import RPCWire
import RemoteProxy
import Subjects
import TestSupport
import Testing

@testable import RPCServer

extension FaultRuns {
    @Test func `what arrives late over a connection that was replaced is never read`() async throws {
        let rounds = Self.size(20, full: 500)
        try await withGate {
            $0.threads = 3
        } _: { _, url in
            let proxy = try FaultProxy(to: url)
            for round in 0..<rounds {
                let first = try HandwrittenClient(proxy.url)
                #expect(try brief(first.raw.ask(HandwrittenClient.next(id: 1))) == "1=\(round * 3 + 1)")
                proxy.stall()
                for id in 2...3 { first.raw.say(HandwrittenClient.next(id: id)) }
                let second = try HandwrittenClient(url, resuming: first.session)
                try #require(second.hasResumed)
                // Not acknowledged, so it comes again.
                #expect(try brief(second.raw.hear()) == "1=\(round * 3 + 1)")
                proxy.resume()
                #expect(try brief(second.raw.ask(HandwrittenClient.next(id: 2))) == "2=\(round * 3 + 2)")
                #expect(try first.raw.hear() == nil)
                #expect(try brief(second.raw.ask(HandwrittenClient.next(id: 3))) == "3=\(round * 3 + 3)")
            }
        }
    }

    @Test func `of several that claim a session at the same time one has it, and nothing runs twice`() async throws {
        let rounds = Self.size(20, full: 500)
        let configuration = { (configuration: inout RPCServer.Configuration) in configuration.threads = 3 }
        try await withGate("tcp://127.0.0.1:0", configuration) { _, url in
            for round in 0..<rounds {
                let owner = try HandwrittenClient(url)
                #expect(try brief(owner.raw.ask(HandwrittenClient.next(id: 1))) == "1=\(round * 3 + 1)")
                let session = owner.session
                let answers = Lock<[String]>([])
                // On threads of their own.
                DispatchQueue.concurrentPerform(iterations: 4) { _ in
                    guard let claimant = try? HandwrittenClient(url, resuming: session), claimant.hasResumed
                    else { return }
                    for id in 2...3 {
                        claimant.raw.say(HandwrittenClient.next(id: id))
                        guard let answer = try? claimant.answer(to: id) else { return }
                        answers.withLock { $0.append("\(id)=\(answer)") }
                    }
                }
                let last = try HandwrittenClient(url, resuming: session)
                try #require(last.hasResumed)
                for id in 2...3 {
                    last.raw.say(HandwrittenClient.next(id: id))
                    #expect(try last.answer(to: id) == "\(round * 3 + id)")
                }
                // Whoever had an answer had the same one.
                #expect(
                    answers.withLock { Set($0) }.isSubset(of: ["2=\(round * 3 + 2)", "3=\(round * 3 + 3)"]))
            }
        }
    }

    @Test func `a client that stays away too long is told so, and nothing of it is left or runs again`() async throws {
        let watched = WatchedEcho()
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.sessionGrace = .milliseconds(200)
        configuration.threads = 2
        let server = RPCServer(configuration)
        server.export(EchoProxy(watched))
        let proxy = try FaultProxy(to: try await server.listen(on: "tcp://127.0.0.1:0"))
        let client = RPCClient(proxy.url, .eager)
        let calls = (0..<8).map { number in
            Task { try await EchoProxy(client).later("\(number)", afterMilliseconds: 0) }
        }
        var events = watched.events.makeAsyncIterator()
        for _ in calls { #expect(await events.next() == .began) }
        #expect(server.driver.sessions.count == 1)
        let lateness = Lateness()
        proxy.refuse()
        let began = MonotonicClock.now
        proxy.cut()
        for _ in calls { #expect(await events.next() == .cancelled) }
        let freed = began.duration(to: MonotonicClock.now)
        #expect(freed > .milliseconds(190) && freed < .milliseconds(220) + Self.slack + lateness.stop() * 2)
        #expect(server.driver.sessions.count == 0)
        proxy.serve()
        for call in calls {
            let error = await #expect(throws: RPCError.self) { try await call.value }
            #expect(error?.code == .connectionLost && error?.outcome == .unknown)
        }
        #expect(try await EchoProxy(client).text("again") == "again")
        #expect(watched.count == calls.count)
        #expect(server.driver.sessions.count == 1)
        client.close()
        await server.stop(grace: .zero)
    }
}

/// Tells when its calls begin and when they are cancelled; they end when they are let go.
final class WatchedEcho: Echo {
    enum Event: Sendable, Hashable { case began, cancelled }

    let events: AsyncStream<Event>
    private let report: AsyncStream<Event>.Continuation
    /// One for each call that has begun.
    private let gates = Lock<[AsyncStream<Void>.Continuation]>([])
    private let begun = Lock(0)

    init() { (events, report) = AsyncStream.makeStream() }

    /// How many calls have begun.
    var count: Int { begun.withLock { $0 } }

    /// Lets the call go on that has waited longest.
    func release() { gates.withLock { $0.isEmpty ? nil : $0.removeFirst() }?.yield() }

    func text(_ text: String) async throws -> String { text }
    func record(_ record: Record) async throws -> Record { record }
    func later(_ text: String, afterMilliseconds: Int) async throws -> String {
        let gate = AsyncStream.makeStream(of: Void.self)
        gates.withLock { $0.append(gate.continuation) }
        begun.withLock { $0 += 1 }
        report.yield(.began)
        for await _ in gate.stream { return text }
        report.yield(.cancelled)
        throw CancellationError()
    }
}
