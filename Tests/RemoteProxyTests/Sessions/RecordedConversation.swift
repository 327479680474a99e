// What a client and a server say to each other in one conversation: greeting, calls, posts, an error, a cancellation, a call
// back, a deadline, a lost connection and its resumption, and the end.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport

@Service
protocol Prompter: Sendable {
    func answer(_ question: String) async throws -> String
}

@Service
protocol Interview: Sendable {
    func ask(_ question: String) async throws -> String
}

/// Asks its caller in turn.
struct Interviewer: Interview {
    func ask(_ question: String) async throws -> String {
        guard let caller = Caller.current else { return "nobody asks" }
        return try await "They say: \(PrompterProxy(caller).answer(question))"
    }
}

struct Answerer: Prompter {
    func answer(_ question: String) async throws -> String { "\(question) Yes." }
}

struct RecordedConversation {
    let loop: ManualLoop
    /// Breaks the connection that there is.
    let cut: () -> Void
    /// Called before the clock is moved.
    let advancing: (_ milliseconds: Int) -> Void

    /// The objects of the server.
    static func serve(_ exports: Exports, _ loop: ManualLoop) {
        exports.add(ProbeProxy(RecordingProbe(loop)), named: nil)
        exports.add(ProbeProxy(RecordingProbe(loop)), named: "other one")
        exports.add(InterviewProxy(Interviewer()), named: nil)
    }

    static var configuration: RPCClient.Configuration {
        var configuration = RPCClient.Configuration()
        configuration.log = { _ in }
        return configuration
    }

    private func advance(milliseconds: Int) {
        advancing(milliseconds)
        loop.advance(by: .milliseconds(milliseconds))
    }

    /// Says the client's part.
    /// - Returns: what came of each call, in order.
    func hold(_ client: RPCClient) throws -> [String] {
        var results: [String] = []
        client.export(PrompterProxy(Answerer()))
        let (probe, other, interview) = (
            ProbeProxy(client), ProbeProxy(client, named: "other one"), InterviewProxy(client)
        )
        try results.append("\(loop.complete { try await probe.echo(1) })")
        try post {
            probe.note(2)
            probe.note(3)
        }
        try results.append("\(loop.complete { try await other.echo(-4) })")
        try results.append(
            loop.complete {
                do { return "\(try await probe.fail(5))" } catch { return "\(error)" }
            })
        try results.append(loop.complete { try await interview.ask("Are you well?") })
        try results.append(loop.complete { "\(try await probe.supports(.echo))" })

        let cancelled = start { try await probe.wait(6, milliseconds: 60_000) }
        cancelled.cancel()
        results.append(finish(cancelled))

        let scope = CallScope(deadline: loop.now.advanced(by: .milliseconds(200)))
        let hurried = start { try await CallScope.with(scope) { try await probe.wait(7, milliseconds: 60_000) } }
        advance(milliseconds: 200)
        results.append(finish(hurried))

        let interrupted = start { try await probe.wait(8, milliseconds: 50) }
        try post { probe.note(9) }
        cut()
        try post { probe.note(10) }
        // The server finishes what it runs, and the client connects again.
        advance(milliseconds: 1_000)
        results.append(finish(interrupted))
        try results.append("\(loop.complete { try await probe.echo(11) })")
        client.close()
        loop.run()
        return results
    }

    /// Posts on the loop, so that it is certain when the post leaves.
    private func post(_ body: @escaping @Sendable () -> Void) throws {
        try loop.complete { body() }
        loop.run()
    }

    private func start(_ body: @escaping @Sendable () async throws -> Int) -> Task<String, Never> {
        let task = Task(executorPreference: loop) {
            do { return "\(try await body())" } catch { return "\((error as? RPCError)?.code.rawValue ?? 0) \(error)" }
        }
        loop.run()
        return task
    }

    private func finish(_ task: Task<String, Never>) -> String {
        (try? loop.complete { await task.value }) ?? "never ended"
    }
}
