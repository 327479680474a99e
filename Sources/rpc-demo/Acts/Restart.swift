// A server goes away and comes back. Its client notices; the callers do not.

import Protocols
import RPCServer
import RemoteProxy
import Subjects

let restartAct = Act(
    "A server that goes away and comes back",
    "One task makes fifty calls, one after the other, while the server is replaced. The task does not notice."
) { stage in
    try await stage.withServer(EchoProxy(PlainEcho()), at: Stage.ownPlace()) { server, endpoint, client in
        let echo: any Echo = EchoProxy(client)
        _ = try await echo.text("here I am")
        let steadyCaller = Task {
            for _ in 1...50 { _ = try await echo.later("tick", afterMilliseconds: 5) }
            return 50
        }

        stage.says("The server stops: running calls finish, new ones wait at the client for the next connection.")
        try await stage.show("await server.stop()") { await server.stop() }
        await failedAttempt(of: client)
        let patientCall = Task { try await echo.text("called while no server listened") }
        await failedAttempt(of: client)

        stage.says("Another server starts at the same address:")
        let successor = RPCServer()
        successor.export(EchoProxy(PlainEcho()))
        try await stage.show("try await successor.listen(on: endpoint)", expecting: endpoint) {
            try await successor.listen(on: endpoint)
        }
        try await stage.show("try await patientCall.value", expecting: "called while no server listened") {
            try await patientCall.value
        }
        stage.says("The task has made all its calls:")
        try await stage.show("try await steadyCaller.value", expecting: 50) { try await steadyCaller.value }
        await successor.stop()
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
