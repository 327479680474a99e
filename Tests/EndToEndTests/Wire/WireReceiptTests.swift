// Clients that never say how far they have come: their answers are kept for them, and not without end.

import RPCServer
import RemoteProxy
import TestSupport
import Testing

struct WireReceiptTests {
    /// Asks for what need not begin, hears each answer, and acknowledges none. Answers how the session is called.
    private func beUngrateful(_ client: RawClient, _ asked: Int) throws -> String {
        let welcome = try client.ask(Said.hello) ?? ""
        for first in stride(from: 1, through: asked, by: 100) {
            let questions = (first..<first + 100).map { #"{"jsonrpc":"2.0","method":"No.such","id":\#($0)}"# }
            client.send(questions.flatMap(client.framing.frame))
            for number in first..<first + 100 { #expect(try brief(client.hear()) == "\(number)!-32001") }
        }
        return try #require(welcome.split(separator: #""session":""#).last).prefix(32).description
    }

    private func resume(_ session: String, of url: Endpoint) throws -> (client: RawClient, answer: String?) {
        let client = try RawClient(url)
        let params = #"{"resume":{"session":"\#(session)","received":{"requests":0,"replies":0}}}"#
        return (client, try client.ask(#"{"jsonrpc":"2.0","method":"rpc.hello","params":\#(params),"id":0}"#))
    }

    @Test func `an answer is kept for who may come back`() async throws {
        try await withWire { url in
            let session = try beUngrateful(try RawClient(url), 200)
            let (client, welcome) = try resume(session, of: url)
            #expect(welcome?.contains(session) == true)
            for number in 1...200 { #expect(try brief(client.hear()) == "\(number)!-32001") }
        }
    }

    @Test func `who acknowledges nothing loses its way back, and nothing else`() async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.maximumKeptReplyBytes = 1_000
        try await withWire(configuration) { url in
            let client = try RawClient(url)
            let session = try beUngrateful(client, 1_000)
            let sum = try client.ask(#"{"jsonrpc":"2.0","method":"Calculator.add","params":[1,2],"id":2000}"#)
            #expect(try brief(sum) == "2000=3")
            #expect(try resume(session, of: url).answer?.contains(session) != true)
        }
    }
}
