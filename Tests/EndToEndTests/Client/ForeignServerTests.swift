// Servers that are not made with this library, written by hand: a client without a hello calls them as they are.

import Faults
import Protocols
import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Servers of other kinds` {
    private static func client(
        _ url: Endpoint, _ framing: RPCClient.Configuration.Framing = .lines, saysHello: Bool? = nil
    ) -> RPCClient {
        var configuration = RPCClient.Configuration.eager
        configuration.peer = .jsonRPC(framing)
        configuration.saysHello = saysHello
        return RPCClient(url, configuration)
    }

    @Test(arguments: [RPCClient.Configuration.Framing.lines, .headers])
    func `are sent nothing before the first call`(_ framing: RPCClient.Configuration.Framing) async throws {
        let server = try ScriptedServer { peer in
            let asked = try peer.hearText(framing == .lines ? "\n" : "}")
            try peer.sayText(asked.text.contains("rpc.hello") ? "no" : peer.reply(to: asked, framed: framing))
            try peer.fallSilent()
        }
        let calculator = CalculatorProxy(Self.client(server.url, framing))
        #expect(try await calculator.add(1, 2) == 3)
    }

    @Test func `are greeted if that is asked for, or if there is a token to be shown`() async throws {
        for (saysHello, token, expected) in [
            (true, nil, "rpc.hello"), (nil, "secret-secret-secret", "rpc.hello"), (nil, nil, "Calculator.add"),
            (false, nil, "Calculator.add"),
        ] as [(Bool?, String?, String)] {
            let first = AsyncStream<String>.makeStream()
            let server = try ScriptedServer { peer in
                first.continuation.yield(try peer.hearText("\n").method)
                try peer.fallSilent()
            }
            var configuration = RPCClient.Configuration.eager
            configuration.peer = .jsonRPC(.lines)
            configuration.saysHello = saysHello
            configuration.token = token.map { Token($0) }
            let client = RPCClient(server.url, configuration)
            async let call = try? CalculatorProxy(client).add(1, 2)
            for await method in first.stream {
                #expect(method == expected)
                break
            }
            client.close()
            _ = await call
        }
    }

    @Test func `that close after each answer are called again`() async throws {
        let server = try ScriptedServer { peer in
            let asked = try peer.hearText("\n")
            try peer.sayText(peer.reply(to: asked, framed: .lines))
        }
        let calculator = CalculatorProxy(Self.client(server.url))
        for count in 1...20 {
            #expect(try await calculator.add(1, 2) == 3)
            await until { server.connections > count }
        }
    }

    /// Counts its posts. Each keeps its thread until it may go on.
    private final class Counting: Counter {
        let noted = Lock(0)
        let passes = Barrier()

        func note(_ text: String) {
            passes.wait()
            noted.withLock { $0 += 1 }
        }
        func increment(by amount: Int) async throws -> Int { amount }
        func next() async throws -> Int { 0 }
        func value() async throws -> Int { noted.withLock { $0 } }
        func notes() async throws -> [String] { [] }
    }

    /// A few posts are all read before the first has run, and so is the end of the connection.
    @Test(arguments: [100, 5_000])
    func `that post and close have all of it run`(_ count: Int) async throws {
        let server = try ScriptedServer { peer in
            let asked = try peer.hearText("\n")
            let posts = (1...count).map { #"{"jsonrpc":"2.0","method":"Counter.note","params":["\#($0)"]}"# + "\n" }
            try peer.sayText(peer.reply(to: asked, framed: .lines) + posts.joined())
        }
        let client = Self.client(server.url)
        let counter = Counting()
        client.export(CounterProxy(counter))
        #expect(try await CalculatorProxy(client).add(1, 2) == 3)
        // The client connects again when it has seen the end.
        if count == 100 { await until { server.connections > 1 } }
        counter.passes.open(for: count)
        await until { counter.noted.withLock { $0 } == count }
        client.close()
    }

    @Test func `that answer all calls of a connection are not given one for each`() async throws {
        let server = try ScriptedServer { peer in
            while true { try peer.sayText(peer.reply(to: peer.hearText("\n"), framed: .lines)) }
        }
        let calculator = CalculatorProxy(Self.client(server.url))
        for _ in 1...20 { #expect(try await calculator.add(1, 2) == 3) }
        #expect(server.connections == 1)
    }

    @Test func `that hang up without an answer end the call, and the next one finds another connection`() async throws {
        let answers = Flag()
        let server = try ScriptedServer { peer in
            let asked = try peer.hearText("\n")
            if answers.isRaised { try peer.sayText(peer.reply(to: asked, framed: .lines)) }
        }
        let calculator = CalculatorProxy(Self.client(server.url))
        for _ in 0..<3 {
            let error = await #expect(throws: RPCError.self) { try await calculator.add(1, 2) }
            #expect(error?.code == .connectionLost && error?.outcome == .unknown)
        }
        answers.raise()
        #expect(try await calculator.add(1, 2) == 3)
    }

    @Test func `that say nothing are called, and the call ends at its deadline`() async throws {
        let server = try ScriptedServer { peer in try peer.fallSilent() }
        let client = Self.client(server.url)
        let calculator = CalculatorProxy(client)
        try await client.connect()
        let error = await #expect(throws: RPCError.self) {
            try await withCallTimeout(.milliseconds(20)) { try await calculator.add(1, 2) }
        }
        #expect(error?.code == .deadlineExceeded)
    }

    @Test func `that answer something else are said to be of another kind`() async throws {
        let server = try ScriptedServer { peer in
            _ = try peer.hearText("\n")
            try peer.sayText("220 mail.example ESMTP\r\n")
            try peer.fallSilent()
        }
        let error = await #expect(throws: RPCError.self) {
            try await CalculatorProxy(Self.client(server.url)).add(1, 2)
        }
        #expect(error?.code == .connectionLost && error?.outcome == .unknown)
        #expect(error?.message.contains("does not answer as a server of this kind does") == true)
    }

    @Test func `cannot make themselves ours with an answer to a hello that was not said`() async throws {
        let heard = AsyncStream<String>.makeStream()
        let server = try ScriptedServer { peer in
            try peer.sayText(#"{"jsonrpc":"2.0","id":0,"result":{"protocol":1,"session":"forged"}}"# + "\n")
            while true {
                let asked = try peer.hearText("\n")
                heard.continuation.yield(asked.text)
                try peer.sayText(peer.reply(to: asked, framed: .lines))
            }
        }
        let calculator = CalculatorProxy(Self.client(server.url))
        for _ in 0..<2 { #expect(try await calculator.add(1, 2) == 3) }
        let third = try await withCallTimeout(.seconds(5)) { try await calculator.add(1, 2) }
        #expect(third == 3)
        var texts: [String] = []
        for await text in heard.stream.prefix(3) { texts.append(text) }
        // What only our own ends are told is told to them alone.
        #expect(texts.allSatisfy { !$0.contains("timeout") && !$0.contains("rpc.") })
    }
}

extension ScriptedPeer {
    fileprivate func reply(to asked: Asked, framed framing: RPCClient.Configuration.Framing) -> String {
        let reply = Self.reply(asked.id ?? "null", "3")
        return framing == .lines ? reply + "\n" : "Content-Length: \(reply.utf8.count)\r\n\r\n\(reply)"
    }
}
