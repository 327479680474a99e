// Every call has a deadline, and `withTimeout` sets an earlier one around any number of calls.

import Protocols
import RemoteProxy

struct TimeLimit: Act {
    let client: RPCClient

    let title = "A timeout"
    let story = "The server would take ten seconds. The caller gives it a fifth of one; the server is told to stop."

    func play(on stage: Stage) async throws {
        let echo: any Echo = EchoProxy(client)

        try await stage.show(
            #"""
            try await withTimeout(.milliseconds(200)) {
                try await echo.later("too late", afterMilliseconds: 10_000)
            }
            """#,
            throwing: .rpc(.deadlineExceeded, nil)
        ) {
            try await withTimeout(.milliseconds(200)) {
                try await echo.later("too late", afterMilliseconds: 10_000)
            }
        }
        stage.says("The connection is none the worse for it:")
        try await stage.show(#"try await echo.text("still here")"#, expecting: "still here") {
            try await echo.text("still here")
        }
    }
}
