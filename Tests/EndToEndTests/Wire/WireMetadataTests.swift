// The metadata of calls as other programs write it, and who gets the metadata of this library's callers.

import Faults
import Protocols
import RPCServer
import RPCSockets
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Metadata on the wire` {
    /// Answers with what came with the call.
    private struct MetadataTeller: Greeter {
        func greet(_ name: String) async throws -> String {
            (Caller.current?.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                .joined(separator: " ")
        }
    }

    private static func greet(_ id: Int, _ member: String, method: String = "Greeter.greet") -> String {
        #"{"jsonrpc":"2.0","method":"\#(method)","params":[""],\#(member)"id":\#(id)}"#
    }

    private static func entries(_ count: Int, value: String = "") -> String {
        #""metadata":{\#((0..<count).map { #""\#($0)":"\#(value)""# }.joined(separator: ","))},"#
    }

    @Test func `any program can send it, and what is wrong with it is told to its call alone`() async throws {
        let tooMany = "this is not a request: more than 16 keys in the metadata of a call "
        let tooLong = "this is not a request: more than 4096 bytes of keys and values in the "
        let notStrings =
            "this is not a request: the metadata is something else than an object whose values are strings"
        try await withServer(exporting: [GreeterProxy(MetadataTeller())]) { url in
            let answers = try await blocking {
                let client = try RawClient(url)
                return try [
                    Self.greet(1, #""metadata":{"a":"1","b":"\u00fc"},"#), Self.greet(2, ""),
                    Self.greet(3, #""metadata":null,"#), Self.greet(4, #""metadata":{},"#),
                    Self.greet(5, #""metadata": { "a" : "1", "a" : "2" } ,"#),
                    Self.greet(6, #""metadata":{"a":"1"},"#, method: #"Greeter\u002egreet"#),
                    Self.greet(7, Self.entries(17)),
                    Self.greet(8, Self.entries(16, value: String(repeating: "x", count: 256))),
                    Self.greet(9, Self.entries(1, value: String(repeating: "x", count: 1 << 20))),
                    Self.greet(10, #""metadata":{"a":1},"#), Self.greet(11, #""metadata":["a"],"#),
                    Self.greet(12, #""metadata":"a","#), Self.greet(13, #""metadata":{"a":null},"#),
                    Self.greet(14, Self.entries(16)), Self.greet(15, #""metadata":{"\u00fc":"1"},"#),
                ].map { try client.ask($0) ?? "closed" }
            }.get()
            let expected = [
                "a=1 b=ü", "", "", "", "a=2", "a=1", tooMany, tooLong, tooLong, notStrings, notStrings, notStrings,
                notStrings, (0..<16).map(String.init).sorted().map { "\($0)=" }.joined(separator: " "),
                "this is not a request: a key of the metadata is not ASCII",
            ]
            for (number, (answer, expected)) in zip(answers, expected).enumerated() {
                let isRefused = expected.hasPrefix("this")
                #expect(
                    answer.contains(
                        isRefused ? #""code":-32600,"message":"\#(expected)"# : #""result":"\#(expected)""#),
                    "\(answer)")
                #expect(answer.contains(#""id":\#(number + 1),"#))
            }
        }
    }

    @Test func `a server that runs another library never sees it, not even with posts that were kept`() async throws {
        for saysHello in [true, false] {
            let heard = AsyncStream<String>.makeStream()
            let server = try ScriptedServer { peer in
                while true {
                    let asked = try peer.hearText("\n")
                    heard.continuation.yield(asked.text)
                    guard let id = asked.id else { continue }
                    let answer =
                        asked.method == "rpc.hello"
                        ? ScriptedPeer.failure(id, #"{"code":-32601,"message":"no such method"}"#)
                        : ScriptedPeer.reply(id, "1")
                    try peer.sayText(answer + "\n")
                }
            }
            var configuration = RPCClient.Configuration.eager
            configuration.peer = .jsonRPC(.lines)
            configuration.saysHello = saysHello
            let counter = CounterProxy(RPCClient(server.url, configuration))
            try await withCallMetadata(["secret": "of ours"]) {
                // Kept until there is a connection.
                counter.note("early")
                let first = try await counter.next()
                counter.note("late")
                let second = try await counter.value()
                #expect(first == 1 && second == 1)
            }
            var texts: [String] = []
            for await text in heard.stream {
                texts.append(text)
                if text.contains("Counter.value") { break }
            }
            #expect(texts.filter { $0.contains("Counter.note") }.count == 2)
            #expect(texts.filter { $0.contains("metadata") } == [], "\(saysHello)")
        }
    }

    @Test func `a server of the first release does not get what it would pass on`() async throws {
        let heard = AsyncStream<String>.makeStream()
        let server = try ScriptedServer { peer in
            try peer.welcome()
            while true {
                let asked = try peer.hear()
                heard.continuation.yield(asked.text)
                if asked.id != nil { try peer.answer(asked, "1") }
            }
        }
        let counter = CounterProxy(RPCClient(server.url, RPCClient.Configuration.eager))
        try await withCallMetadata(["a": .secret("1", reach: .nextEnd), "b": .secret("2", reach: .allEnds), "c": "3"]) {
            // Kept until there is a connection.
            counter.note("early")
            _ = try await counter.next()
            counter.note("late")
            _ = try await withCallMetadata(["b": MetadataValue("2", reach: .nextEnd)]) { try await counter.value() }
        }
        var texts: [String] = []
        for await text in heard.stream where text.contains("Counter.") {
            texts.append(String(text.drop { $0 != "[" }))
            if text.contains("Counter.value") { break }
        }
        #expect(texts.count == 4 && !texts.contains { $0.contains("-") }, "\(texts)")
        #expect(texts.prefix(3).allSatisfy { $0.contains(##","metadata":{"#b":"2","c":"3"},"##) }, "\(texts)")
        #expect(texts.last?.contains(#","metadata":{"c":"3"},"#) == true, "\(texts)")
    }
}
