// Names and ids that are as long as a message, or spelled so that comparing them as texts would take its time: they are
// answered with few words, and cost nobody else anything.

import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Long names` {
    /// One character to Swift, of more than a million bytes.
    private static let long = "o" + String(repeating: "\u{0301}\u{0323}", count: 300_000)

    @Test(arguments: ["", "rpc.hell", "$/cancelRequest", "Calculator.", "Counter[~1].", "Nobody[x]."])
    func `a method that nobody has is answered with few of its bytes`(beginning: String) async throws {
        try await withWire { url in
            let client = try RawClient(url)
            let answer = try client.ask(#"{"jsonrpc":"2.0","method":"\#(beginning)\#(Self.long)","id":1}"#)
            #expect(try brief(answer) == "1!-32601")
            #expect(try #require(answer).utf8.count < 1_000)
        }
    }

    @Test func `an id that is too long is refused, and nothing runs under it`() async throws {
        try await withWire { url in
            let client = try RawClient(url)
            let answer = try client.ask(#"{"jsonrpc":"2.0","method":"Counter.next","id":"\#(Self.long)"}"#)
            #expect(try brief(answer) == "null!-32600")
            #expect(answer?.contains("of 1024 bytes at most") == true)
            #expect(try brief(client.ask(Said.value)) == "1=0")
        }
    }

    @Test func `a cancellation means the call whose id has the same bytes`() async throws {
        try await withWire { url in
            let client = try RawClient(url)
            let ids = ["\u{E9}", "e\u{301}"]
            for id in ids { client.say(#"{"jsonrpc":"2.0","method":"Echo.later","params":["x",60000],"id":"\#(id)"}"#) }
            for id in ids.reversed() {
                client.say(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"\#(id)"}}"#)
                let answer = try #require(try client.hear())
                #expect(Array(answer.utf8).contains(Array("\"id\":\"\(id)\"".utf8)))
                #expect(answer.contains("-32800"))
            }
        }
    }

    @Test func `nothing that long is held`() async throws {
        let message = #"{"jsonrpc":"2.0","method":"rpc.hold","params":{"object":"NAME","lease":1},"id":1}"#
        try await withWire { url in
            let answer = try RawClient(url).ask(message.replacing("NAME", with: Self.long))
            #expect(try brief(answer) == "1!-32602")
            #expect(try #require(answer).utf8.count < 1_000)
        }
    }

    @Test func `no session is found by a long id`() async throws {
        try await withWire { url in
            let id = String(Self.long.unicodeScalars.prefix(4_000))
            let resume = #"{"session":"\#(id)","received":{"requests":0,"replies":0}}"#
            let hello = #"{"jsonrpc":"2.0","method":"rpc.hello","params":{"resume":\#(resume)},"id":0}"#
            let welcome = try RawClient(url).ask(hello)
            #expect(welcome?.contains("\"resumed\"") == false && welcome?.contains("\"session\"") == true)
        }
    }

    /// Any number of names that a method does not have may come with it, but they are not kept.
    @Test func `names that a method does not know are passed over`() async throws {
        try await withWire { url in
            let others = (0..<100_000).map { #""x\#($0)":\#($0)"# }.joined(separator: ",")
            let call = #"{"jsonrpc":"2.0","method":"Calculator.add","params":{"b":9,\#(others),"a":1,"b":2},"id":1}"#
            let client = try RawClient(url)
            #expect(try brief(client.ask(call)) == "1=3")
        }
    }
}
