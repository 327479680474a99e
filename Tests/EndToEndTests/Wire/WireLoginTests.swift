// Who has not shown a token can do nothing, learns nothing and costs little; who has, is known by name.

import Foundation
import Protocols
import RPCServer
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Logging in` {
    private static let next = #"{"jsonrpc":"2.0","method":"Counter.next","id":1}"#
    private static let value = #"{"jsonrpc":"2.0","method":"Counter.value","id":1}"#
    private static let greet = #"{"jsonrpc":"2.0","method":"Greeter.greet","params":["x"],"id":1}"#

    private static func locked(_ configuration: inout RPCServer.Configuration) {
        configuration.tokens = try? TokenList(parsing: Secrets.list)
        configuration.limits.loginDelay = .milliseconds(1)
    }

    @Test(arguments: WireFraming.allCases)
    func `nothing is answered differently, whether it exists or not, and nothing runs`(
        framing: WireFraming
    ) async throws {
        try await withGate {
            Self.locked(&$0)
        } _: { server, url in
            let stranger = try RawClient(url, framing)
            let calls = [
                "Counter.next", "Counter.nothing", "No.such", "rpc.discover", "rpc.ping", "rpc.drain", "rpc.other",
                "$/cancelRequest", "$/other",
            ]
            let answers = try Set(
                calls.map { try stranger.ask(#"{"jsonrpc":"2.0","method":"\#($0)","params":{"id":1},"id":7}"#) })
            #expect(answers.count == 1)
            let answer = try #require(answers.first ?? nil)
            #expect(try brief(answer) == "7!-32055")
            #expect(answer.contains("rpc.authenticate"))
            // Posts have no answer, and a batch gets one for all.
            stranger.say(#"{"jsonrpc":"2.0","method":"Counter.note","params":["x"]}"#)
            #expect(try brief(stranger.ask("[\(Self.next),\(Self.next)]")) == "null!-32055")
            #expect(try brief(stranger.ask(#"{"jsonrpc":"2.0","method":"rpc.hello","id":2}"#)) == "2!-32055")
            #expect(try brief(stranger.ask(#"{"jsonrpc":"2.0","method":"rpc.authenticate","id":3}"#)) == "3!-32055")
            #expect(server.counters.requestsBegun == 0)
            #expect(try stranger.ask(Secrets.authenticate(Secrets.alice)) == Self.welcome)
            #expect(try brief(stranger.ask(Self.value)) == "1=0")
            #expect(server.counters.loginsAccepted == 1 && server.counters.loginsRefused == 0)
        }
    }

    private static let welcome = #"{"jsonrpc":"2.0","id":1,"result":{"name":"alice"}}"#

    @Test(arguments: ["", #""protocol":1,"#])
    func `a hello with a token is a login, whether it names its version or not`(version: String) async throws {
        try await withGate {
            Self.locked(&$0)
        } _: { server, url in
            let client = try RawClient(url, .lengthPrefixed)
            let params = #"{\#(version)"token":"\#(Secrets.alice)"}"#
            let hello = try client.ask(#"{"jsonrpc":"2.0","method":"rpc.hello","params":\#(params),"id":0}"#)
            #expect(hello?.contains(#""session":"#) == true)
            #expect(try brief(client.ask(Self.value)) == "1=0")
            #expect(server.counters.loginsAccepted == 1 && server.counters.loginsRefused == 0)
        }
    }

    @Test func `calls in the same bytes as the login are served`() async throws {
        try await withGate {
            Self.locked(&$0)
        } _: { _, url in
            let client = try RawClient(url)
            client.send(Secrets.authenticate(Secrets.alice) + "\n" + String(repeating: Self.value + "\n", count: 1_000))
            #expect(try client.hear() == Self.welcome)
            for _ in 0..<1_000 { #expect(try brief(client.hear()) == "1=0") }
        }
    }

    @Test func `a wrong token is answered late, counted, logged without itself, and closes`() async throws {
        let log = LoggedLines()
        try await withGate {
            Self.locked(&$0)
            $0.limits.loginDelay = .milliseconds(100)
            $0.log = log.add
        } _: { server, url in
            for wrong in ["", "a", "alice-0123456789abcde", "alice-0123456789abcdeF", "alice-0123456789abcdef0"] {
                let guesser = try RawClient(url)
                let start = ContinuousClock.now
                guesser.send(Secrets.authenticate(wrong) + "\n" + Secrets.authenticate(Secrets.alice) + "\n")
                #expect(try brief(guesser.hear()) == "1!-32055")
                #expect(ContinuousClock.now - start >= .milliseconds(100))
                #expect(try guesser.hear() == nil)
            }
            #expect(server.counters.loginsRefused == 5 && server.counters.loginsAccepted == 0)
            let lines = log.lines
            #expect(lines.count == 5 && lines.allSatisfy { $0.contains("an unknown token") })
            #expect(!lines.contains { $0.contains("0123456789") })
        }
    }

    @Test func `many guesses are many connections, each counted`() async throws {
        try await withGate {
            Self.locked(&$0)
        } _: { server, url in
            for length in 0..<200 {
                let guesser = try RawClient(url)
                _ = try guesser.ask(Secrets.authenticate(String(Secrets.alice.prefix(length % 22))))
            }
            #expect(server.counters.loginsRefused == 200 && server.counters.requestsBegun == 0)
        }
    }

    @Test func `who is in and shows another's token is out`() async throws {
        try await withGate {
            Self.locked(&$0)
        } _: { server, url in
            let client = try RawClient(url)
            #expect(try client.ask(Secrets.authenticate(Secrets.alice)) == Self.welcome)
            #expect(try client.ask(Secrets.authenticate(Secrets.alice)) == Self.welcome)
            #expect(try brief(client.ask(Secrets.authenticate("bob-fedcba9876543210"))) == "1!-32055")
            #expect(try client.hear() == nil)
        }
    }

    @Test func `silence ends when the time to log in is over`() async throws {
        try await withGate {
            Self.locked(&$0)
            $0.limits.loginTime = .milliseconds(50)
        } _: { server, url in
            for beginning in ["", "{", Self.value + "\n"] {
                let stranger = try RawClient(url)
                stranger.send(beginning)
                _ = try stranger.rest()
            }
            #expect(server.counters.overruns == ["loginTime": 3])
        }
    }

    @Test(arguments: WireFraming.allCases)
    func `a hundred megabytes without a login end at sixteen kilobytes`(framing: WireFraming) async throws {
        try await withGate {
            Self.locked(&$0)
        } _: { server, url in
            let stranger = try RawClient(url, framing)
            let megabyte = framing.frame(#"{"x":""# + String(repeating: "x", count: 1 << 20) + "\"}")
            for _ in 0..<100 { stranger.send(megabyte) }
            #expect(try stranger.rest() == "")
            #expect(server.counters.overruns == ["loginInput": 1])
        }
    }

    @Test func `small messages without a login end at sixteen kilobytes in and four out`() async throws {
        try await withGate {
            Self.locked(&$0)
        } _: { server, url in
            let silent = try RawClient(url)
            for _ in 0..<2_000 { silent.say(#"{"jsonrpc":"2.0","method":"x"}"#) }
            #expect(try silent.rest() == "")
            #expect(server.counters.overruns == ["loginInput": 1])
            for question in [Self.next, "{}", "{]"] {
                let curious = try RawClient(url)
                curious.say(Self.value)
                for _ in 0..<1_000 { curious.say(question) }
                let answers = try curious.rest().utf8.count
                #expect((1_000...4_200).contains(answers), "\(question): \(answers) \(server.counters)")
            }
            #expect(server.counters.overruns == ["loginInput": 1, "loginOutput": 3])
        }
    }

    @Test func `a client of ours is let in by its token, and its name reaches the subject`() async throws {
        let server = try await Self.greeterServer()
        var configuration = RPCClient.Configuration.patient
        configuration.token = Token(Secrets.alice)
        let client = RPCClient(server.url, configuration)
        #expect(try await GreeterProxy(client).greet("x") == "alice [\"admin\", \"audit\"]")
        client.close()
        await server.server.stop(grace: .zero)
    }

    /// Row C17 of "What became of my call".
    @Test(arguments: [nil, Token("wrong-0123456789abcdef")])
    func `a client of ours without one learns it at its first call, and nothing runs`(token: Token?) async throws {
        let server = try await Self.greeterServer()
        var configuration = RPCClient.Configuration.eager
        configuration.token = token
        let client = RPCClient(server.url, configuration)
        for _ in 0..<3 {
            let error = await #expect(throws: RPCError.self) { try await GreeterProxy(client).greet("x") }
            #expect(error?.code == .unauthenticated && error?.outcome == .notExecuted)
            #expect(error?.message.contains("RPCClient.Configuration.token") == true)
            #expect(!"\(error as Any)".contains("0123456789"))
        }
        #expect(server.server.counters.requestsBegun == 0)
        client.close()
        await server.server.stop(grace: .zero)
    }

    private static func greeterServer() async throws -> (server: RPCServer, url: Endpoint) {
        var configuration = RPCServer.Configuration.quiet
        locked(&configuration)
        let server = RPCServer(configuration)
        server.export(GreeterProxy(WhoIsThere()))
        return (server, try await server.listen(on: "tcp://127.0.0.1:0"))
    }

    @Test(arguments: [true, false])
    func `on a unix socket the user is known and let in, and may be more by a token`(hasTokens: Bool) async throws {
        let folder = try SocketFolder()
        try await withGate(folder.url, exporting: [GreeterProxy(WhoIsThere())]) {
            if hasTokens { Self.locked(&$0) }
        } _: { _, url in
            let client = try RawClient(url)
            #expect(try client.ask(Self.greet)?.contains("\"uid:\(getuid()) []\"") == true)
            guard hasTokens else { return }
            #expect(try client.ask(Secrets.authenticate(Secrets.alice)) == Self.welcome)
            #expect(try client.ask(Self.greet)?.contains("alice") == true)
        }
    }

    @Test func `without tokens a login is no hindrance and proves nothing`() async throws {
        try await withGate(exporting: [GreeterProxy(WhoIsThere())]) { _, url in
            let client = try RawClient(url)
            #expect(
                try client.ask(Secrets.authenticate("anything")) == #"{"jsonrpc":"2.0","id":1,"result":{"name":null}}"#)
            #expect(try brief(client.ask(Self.greet)) == "1=\"nobody\"")
        }
    }
}
