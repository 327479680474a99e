// A server goes away and comes back. Its client notices; the callers do not.

import Protocols
import RPCServer
import RemoteProxy
import Subjects

struct ServerRestart: Act {
    let title = "A server that goes away and comes back"
    let story = """
        This act has a server of its own, so that it never stops somebody else's.
        One task calls it again and again from beginning to end, and knows nothing of all this.
        """

    func play(on stage: Stage) async throws {
        let server = RPCServer()
        server.export(EchoProxy(PlainEcho()))
        let url = try await server.listen(on: OwnPlace.address())

        let client = RPCClient(url)
        let echo: any Echo = EchoProxy(client)
        let (answers, answered) = AsyncStream.makeStream(of: Int.self)
        let steadyCaller = Task { try await callAgainAndAgain(echo, answered) }
        _ = await answers.first { $0 == 10 }

        stage.says("The server stops: running calls finish, new ones wait at the client for the next connection.")
        try await stage.show("await server.stop()") {
            await server.stop()
        }
        await failedAttempt(of: client)
        let patientCall = Task { try await echo.text("called while nobody listened") }
        await failedAttempt(of: client)

        stage.says("Another server starts at the same address:")
        let successor = RPCServer()
        successor.export(EchoProxy(PlainEcho()))
        try await stage.show("try await successor.listen(on: url)", expecting: url) {
            try await successor.listen(on: url)
        }
        try await stage.show("try await patientCall.value", expecting: "called while nobody listened") {
            try await patientCall.value
        }

        stage.says("And the task that knows nothing:")
        _ = await answers.first { $0 >= 20 }
        steadyCaller.cancel()
        try await stage.show(
            "try await steadyCaller.value", as: { "\($0) calls, none of which failed" }, where: { $0 >= 20 }
        ) {
            try await steadyCaller.value
        }
        client.close()
        await successor.stop()
    }

    /// Calls until its task is cancelled and returns how many calls were answered. The first that fails ends it.
    private func callAgainAndAgain(_ echo: any Echo, _ answered: AsyncStream<Int>.Continuation) async throws -> Int {
        defer { answered.finish() }
        var answers = 0
        do {
            while true {
                _ = try await echo.later("tick", afterMilliseconds: 5)
                answers += 1
                answered.yield(answers)
            }
        } catch is CancellationError {
            return answers
        }
    }

    /// Returns when the client has tried to connect in vain and waits to try again.
    private func failedAttempt(of client: RPCClient) async {
        var wasConnecting = false
        for await state in client.states {
            if case .waiting = state, wasConnecting { return }
            wasConnecting = state == .connecting
        }
    }
}
