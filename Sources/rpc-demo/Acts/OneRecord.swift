// Arguments and results are any Codable values.

import Protocols
import RemoteProxy

struct OneRecord: Act {
    let client: RPCClient

    let title = "A record"
    let story = "Whatever is Codable travels, there and back, and is the same."

    func play(on stage: Stage) async throws {
        let echo: any Echo = EchoProxy(client)
        let record = Record(
            id: 7, name: "Zoë 🦊", email: "z@b.org", tags: ["a", ""], scores: [0.1, -2e300], active: true)

        try await stage.show("try await echo.record(record)", expecting: record) {
            try await echo.record(record)
        }
    }
}
