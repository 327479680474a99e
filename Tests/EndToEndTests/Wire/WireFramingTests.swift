// The three framings as strict peers write and read them.

import RPCServer
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Framings on the wire` {
    private static let call = #"{"jsonrpc":"2.0","method":"Calculator.add","params":[1,1],"id":1}"#
    private static let reply = #"{"jsonrpc":"2.0","id":1,"result":2}"#

    @Test(arguments: [
        ("{call}\n", "{reply}\n"),
        ("{call}\r\n", "{reply}\n"),
        ("\n\r\n  \n{call}\n\n", "{reply}\n"),
        (" \t{call} \n", "{reply}\n"),
        ("Content-Length: {count}\r\n\r\n{call}", "Content-Length: 35\r\n\r\n{reply}"),
        ("content-length:{count}\r\n\r\n{call}", "Content-Length: 35\r\n\r\n{reply}"),
        ("CONTENT-LENGTH: \t{count} \r\n\r\n{call}", "Content-Length: 35\r\n\r\n{reply}"),
        (
            "Content-Length: {count}\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{call}",
            "Content-Length: 35\r\n\r\n{reply}"
        ),
        (
            "Content-Type: application/vscode-jsonrpc; charset=utf8\r\ncontent-length: {count}\r\n\r\n{call}",
            "Content-Length: 35\r\n\r\n{reply}"
        ),
        ("\0\0\0{byte}{call}", "\0\0\0\u{23}{reply}"),
    ])
    func `a call is answered in the framing in which it came`(sent: String, expected: String) async throws {
        try await withWire { url in
            let client = try RawClient(url)
            let count = Self.call.utf8.count
            let text = sent.replacing("{call}", with: Self.call).replacing("{count}", with: "\(count)")
                .replacing("{byte}", with: String(Unicode.Scalar(UInt8(count))))
            client.send(text)
            let answer = expected.replacing("{reply}", with: Self.reply)
            #expect(try client.hear(bytes: answer.utf8.count) == answer)
            client.finish()
            #expect(try client.rest() == "")
        }
    }

    /// What is to be sent before it tells the framing, since the first byte of its length does not.
    @Test func `a length-prefixed connection can begin with a call of 16 MiB, behind an empty frame`() async throws {
        try await withGate {
            $0.limits.maximumFrameSize = 32 << 20
        } _: { _, url in
            let text = String(repeating: "x", count: 16 << 20)
            let call = #"{"jsonrpc":"2.0","method":"Echo.text","params":["\#(text)"],"id":1}"#
            let client = try RawClient(url, .lengthPrefixed)
            client.sendBeside([0, 0, 0, 0] + client.framing.frame(call))
            let answer = try client.hear()
            #expect(answer?.utf8.count == text.utf8.count + #"{"jsonrpc":"2.0","id":1,"result":""}"#.utf8.count)
        }
    }

    @Test(arguments: WireFraming.allCases)
    func `a call may come byte by byte`(framing: WireFraming) async throws {
        try await withWire { url in
            let client = try RawClient(url, framing)
            for byte in framing.frame(Self.call) { client.send([byte]) }
            #expect(try client.hear() == Self.reply)
        }
    }

    @Test(arguments: WireFraming.allCases)
    func `the length counts bytes and not characters`(framing: WireFraming) async throws {
        try await withWire { url in
            let client = try RawClient(url, framing)
            let text = "é😀\u{2028}日本語"
            let call = #"{"jsonrpc":"2.0","method":"Echo.text","params":["\#(text)"],"id":1}"#
            #expect(try client.ask(call) == #"{"jsonrpc":"2.0","id":1,"result":"\#(text)"}"#)
            #expect(try client.ask(Self.call) == Self.reply)
        }
    }
}
