// What becomes of callers when the list of tokens is replaced while they are in.

import Foundation
import Protocols
import RPCServer
import RemoteProxy
import Subjects
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Replacing the list of tokens` {
    private static let value = #"{"jsonrpc":"2.0","method":"Counter.value","id":1}"#
    private static let carol = "carol-0123456789abcdef"
    private static let withoutBob = "alice audit,admin \(Secrets.alice)\ncarol \(carol)"

    private static func locked(_ configuration: inout RPCServer.Configuration) {
        configuration.tokens = try? TokenList(parsing: Secrets.list)
        configuration.limits.loginDelay = .milliseconds(1)
    }

    private static func client(_ url: Endpoint, _ token: String) throws -> RawClient {
        let client = try RawClient(url)
        #expect(try client.ask(Secrets.authenticate(token))?.contains(#""name":"#) == true)
        return client
    }

    /// Says hello, perhaps to go on with a session, and returns the session that it has then and whether it goes on.
    private static func hello(
        _ url: Endpoint, _ token: String, resuming session: String? = nil
    ) throws -> (client: RawClient, session: String, isResumed: Bool) {
        let client = try RawClient(url)
        let resume = session.map { #","resume":{"session":"\#($0)","received":{"requests":0,"replies":0}}"# } ?? ""
        let params = #"{"protocol":1,"token":"\#(token)"\#(resume)}"#
        let answer = try client.ask(#"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":\#(params)}"#) ?? ""
        let parts = answer.split(separator: #""session":""#)
        return (client, parts.count == 2 ? String(parts[1].prefix(32)) : answer, answer.contains(#""resumed""#))
    }

    @Test func `new tokens come in, revoked ones lose their connections, the others notice nothing`() async throws {
        let log = LoggedLines()
        try await withGate {
            Self.locked(&$0)
            $0.log = log.add
        } _: { server, url in
            let (alice, bob) = (try Self.client(url, Secrets.alice), try Self.client(url, Secrets.bob))
            let stranger = try RawClient(url)
            #expect(try brief(stranger.ask(Self.value)) == "1!-32055")
            server.reload(tokens: try TokenList(parsing: Self.withoutBob))
            #expect(try bob.hear() == nil)
            #expect(try brief(alice.ask(Self.value)) == "1=0")
            #expect(try brief(RawClient(url).ask(Secrets.authenticate(Secrets.bob))) == "1!-32055")
            // One that was about to log in is judged by the new list.
            #expect(try stranger.ask(Secrets.authenticate(Self.carol))?.contains("carol") == true)
            #expect(try brief(stranger.ask(Self.value)) == "1=0")
            #expect(log.lines.count { $0.contains("does not let in 'bob' as before") } == 1)
            #expect(!log.lines.contains { $0.contains("fedcba9876543210") })
        }
    }

    @Test(arguments: [
        "alice admin,audit another-0123456789ab", "alice admin \(Secrets.alice)", "bob admin,audit \(Secrets.alice)",
    ])
    func `another token, other roles or another name revoke what was there before`(list: String) async throws {
        try await withGate {
            Self.locked(&$0)
        } _: { server, url in
            let alice = try Self.client(url, Secrets.alice)
            server.reload(tokens: try TokenList(parsing: list))
            #expect(try alice.hear() == nil)
        }
    }

    @Test(arguments: [true, false])
    func `a session that waits for its client can be resumed unless its token was revoked`(isRevoked: Bool)
        async throws
    {
        let successor = "alice-fedcba9876543210"
        let second = "alice admin,audit \(successor)"
        try await withGate {
            Self.locked(&$0)
        } _: { server, url in
            let first = try Self.hello(url, Secrets.alice)
            #expect(!first.isResumed)
            first.client.finish()
            #expect(try first.client.hear() == nil)
            server.reload(
                tokens: try TokenList(parsing: isRevoked ? second : "alice admin,audit \(Secrets.alice)\n\(second)"))
            let next = try Self.hello(url, successor, resuming: first.session)
            #expect(next.isResumed == !isRevoked && (next.session == first.session) == !isRevoked)
        }
    }

    /// The session now stands on the second token, so taking the first one away does not touch it, and the second does.
    @Test func `a session stands on the token that was shown last`() async throws {
        let second = "alice-fedcba9876543210"
        let (one, two) = ("alice admin,audit \(Secrets.alice)", "alice admin,audit \(second)")
        try await withGate {
            Self.locked(&$0)
            $0.tokens = try? TokenList(parsing: "\(one)\n\(two)")
        } _: { server, url in
            let first = try Self.hello(url, Secrets.alice)
            let next = try Self.hello(url, second, resuming: first.session)
            #expect(next.isResumed)
            server.reload(tokens: try TokenList(parsing: two))
            #expect(try brief(next.client.ask(Self.value)) == "1=0")
            server.reload(tokens: try TokenList(parsing: one))
            while try next.client.hear() != nil {}
        }
    }

    @Test func `a running call of a revoked caller is cancelled and nothing of it can be had`() async throws {
        try await withGate {
            Self.locked(&$0)
        } _: { server, url in
            let bob = try Self.client(url, Secrets.bob)
            bob.say(#"{"jsonrpc":"2.0","method":"Echo.later","params":["done",86400000],"id":2}"#)
            #expect(try brief(bob.ask(Self.value)) == "1=0")
            server.reload(tokens: try TokenList(parsing: Self.withoutBob))
            #expect(try bob.hear() == nil)
            try untilSeen { server.counters.requestsRunning == 0 }
        }
    }

    @Test func `a running call of a revoked caller is cancelled although the caller is away`() async throws {
        try await withGate(exporting: [GreeterProxy(Patient()), CounterProxy(SharedCounter())]) {
            Self.locked(&$0)
            $0.limits.sessionGrace = .seconds(3_600)
        } _: { server, url in
            func leaveBehind() throws {
                let bob = try Self.hello(url, Secrets.bob).client
                bob.say(#"{"jsonrpc":"2.0","method":"Greeter.greet","params":["bob"],"id":2}"#)
                #expect(try brief(bob.ask(#"{"jsonrpc":"2.0","method":"Counter.value","id":3}"#)) == "3=0")
            }
            try leaveBehind()
            try untilSeen { server.counters.connectionsOpen == 0 }
            #expect(server.counters.requestsRunning == 1)
            server.reload(tokens: try TokenList(parsing: Self.withoutBob))
            try untilSeen { server.counters.requestsRunning == 0 }
        }
    }

    @Test
    func `where there were no tokens, callers without one lose their connections, and a user of the system stays`()
        async throws
    {
        let folder = try SocketFolder()
        for url in ["tcp://127.0.0.1:0", folder.url] {
            try await withGate(url) { server, url in
                let client = try RawClient(url)
                #expect(try brief(client.ask(Self.value)) == "1=0")
                server.reload(tokens: try TokenList(parsing: Secrets.list))
                if url == folder.url {
                    #expect(try brief(client.ask(Self.value)) == "1=0")
                } else {
                    #expect(try client.hear() == nil)
                    #expect(try brief(RawClient(url).ask(Self.value)) == "1!-32055")
                }
            }
        }
    }

    /// On several threads, so that sessions change theirs.
    @Test func `nobody who logs in or comes back while the list is replaced slips through`() async throws {
        try await withGate {
            Self.locked(&$0)
            $0.threads = 3
        } _: { server, url in
            let (all, without) = (try TokenList(parsing: Secrets.list), try TokenList(parsing: Self.withoutBob))
            for _ in 1...60 {
                server.reload(tokens: all)
                let earlier = try (1...3).map { _ in try Self.hello(url, Secrets.bob) }
                // What a client says here is under way while the list is replaced.
                let late = try earlier.map { earlier in
                    let client = try RawClient(url)
                    let resume = #"{"session":"\#(earlier.session)","received":{"requests":0,"replies":0}}"#
                    let params = #"{"protocol":1,"token":"\#(Secrets.bob)","resume":\#(resume)}"#
                    client.say(#"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":\#(params)}"#)
                    return client
                }
                server.reload(tokens: without)
                for client in earlier.map(\.client) + late { while try client.hear() != nil {} }
            }
        }
    }
}

/// Answers no call, until it is told to stop.
private struct Patient: Greeter {
    func greet(_ name: String) async throws -> String {
        let nothing = AsyncStream.makeStream(of: Void.self)
        for await _ in nothing.stream {}
        throw CancellationError()
    }
}
