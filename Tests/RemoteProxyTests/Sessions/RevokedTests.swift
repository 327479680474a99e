// Tokens that are revoked at the worst moment: between the login of a client that has come back and what it goes on with.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Tokens revoked while a client comes back` {
    private static let first = "alice first-0123456789abcdef"
    private static let second = "alice second-0123456789abcdef"
    private static let bob = "bob bob-0123456789abcdef"

    private let network: SimulatedNetwork
    private let tokens: Lock<TokenList?>
    private let probe: RecordingProbe

    init() throws {
        var settings = LinkSettings()
        tokens = Lock(try TokenList(parsing: [Self.first, Self.second, Self.bob].joined(separator: "\n")))
        settings.tokens = tokens
        network = SimulatedNetwork(settings: settings)
        probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
    }

    /// Says hello with the token of a line, and asks for something at once.
    private func hello(_ line: String, resuming session: String? = nil) throws -> (answers: [String], session: String?)
    {
        let end = try HandwrittenEnd(network)
        let token = line.split(separator: " ").last ?? ""
        let resume = session.map { #","resume":{"session":"\#($0)","received":{"requests":0,"replies":0}}"# } ?? ""
        let params = #"{"protocol":1,"token":"\#(token)"\#(resume)}"#
        end.say(#"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":\#(params)}"#)
        end.say(#"{"jsonrpc":"2.0","method":"Probe.echo","params":[7],"id":1}"#)
        let answers = end.take()
        end.cut()
        let welcome = answers.first ?? ""
        return (answers, welcome.split(separator: "\"").first { $0.count == 32 }.map(String.init))
    }

    private func revoke(_ lines: [String]) throws {
        let list = try TokenList(
            parsing: [Self.first, Self.second, Self.bob].filter { !lines.contains($0) }.joined(separator: "\n"))
        network.whenHandedOver { [tokens] in tokens.withLock { $0 = list } }
    }

    @Test(arguments: [first, second])
    func `a client whose own token was revoked, or that of its session, does not go on with it`(revoked: String) throws
    {
        let session = try #require(try hello(Self.first).session)
        try revoke([revoked])
        let next = try hello(Self.second, resuming: session)
        #expect(next.answers.isEmpty)
        #expect(probe.executed == [7])
    }

    @Test func `a client whose token and whose session's token stay goes on with it`() throws {
        let session = try #require(try hello(Self.first).session)
        try revoke([Self.bob])
        let next = try hello(Self.second, resuming: session)
        #expect(next.answers.first?.contains(#""resumed""#) == true && next.session == session)
    }

    @Test func `a revoked session that is asked for later is not there`() throws {
        let session = try #require(try hello(Self.first).session)
        tokens.withLock { $0 = try? TokenList(parsing: Self.second) }
        network.sessions.judgeAgain()
        network.loop.run()
        #expect(network.sessions.count == 0)
        let next = try hello(Self.second, resuming: session)
        #expect(next.session != nil && next.session != session && probe.executed == [7, 7])
    }
}
