// Cancelling the caller's task ends its call at once, and the task on the server with it.

import Protocols
import RemoteProxy

struct Cancellation: Act {
    let client: RPCClient

    let title = "A cancellation"
    let story = "Swift's own: cancel the task, and the call in it ends here at once and on the server soon after."

    func play(on stage: Stage) async throws {
        let echo: any Echo = EchoProxy(client)

        let task = Task {
            try await echo.later("never mind", afterMilliseconds: 10_000)
        }
        // Long enough for the call to be on its way.
        try await Task.sleep(for: .milliseconds(50))

        try await stage.show(
            "task.cancel()\ntry await task.value", throwing: .cancellation
        ) {
            task.cancel()
            return try await task.value
        }
    }
}
