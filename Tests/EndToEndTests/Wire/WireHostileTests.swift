// Bytes that wish the server ill, each lot on a fresh connection. Afterwards the server must be as it was.

import Foundation
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Hostile bytes` {
    private static func times(_ count: Int, _ text: String) -> [UInt8] {
        Array(String(repeating: text, count: count).utf8)
    }

    private static let lots: [(String, [UInt8])] = [
        ("nothing at all", []),
        ("zeros", times(10_000, "\0")),
        ("all ones", [UInt8](repeating: 0xFF, count: 10_000)),
        ("half a length", [0, 0]),
        ("half a frame", [0, 0, 0, 200] + times(10, "{")),
        ("frames of length zero", times(100_000, "\0\0\0\0")),
        ("one byte of JSON in each frame", times(20_000, "\0\0\0\u{1}{")),
        ("a TURN client", [0, 3, 0, 0, 0x21, 0x12, 0xA4, 0x42] + times(300_000, "x")),
        ("arrays without end", times(100_000, "[") + times(1, "\n")),
        ("objects without end", times(100_000, #"{"a":"#) + times(1, "\n")),
        ("a string without end", Array("{\"jsonrpc".utf8) + times(100_000, "x")),
        ("blank lines", times(100_000, "\n")),
        ("header lines without end", times(100_000, "Content-Type: x\r\n")),
        ("a header name without end", times(100_000, "C")),
        ("a body that does not come", Array("Content-Length: 16000000\r\n\r\n{".utf8)),
        ("bodies of length zero", times(10_000, "Content-Length: 0\r\n\r\n")),
        (
            "bad UTF-8 in the method",
            Array(#"{"jsonrpc":"2.0","id":1,"method":""#.utf8) + [0xC3, 0x28] + Array("\"}\n".utf8)
        ),
        ("bad UTF-8 in the id", Array(#"{"jsonrpc":"2.0","method":"x","id":""#.utf8) + [0xFF] + Array("\"}\n".utf8)),
        ("a lone surrogate", Array(#"{"jsonrpc":"2.0","method":"\ud800","id":"\udc00"}"#.utf8) + [10]),
        (
            "digits without end",
            Array(#"{"jsonrpc":"2.0","method":"x","id":"#.utf8) + times(200_000, "9") + Array("}\n".utf8)
        ),
        ("an exponent without end", Array(#"{"jsonrpc":"2.0","id":1e"#.utf8) + times(5_000, "9") + Array("}\n".utf8)),
        ("members without end", Array("{".utf8) + times(20_000, #""id":1,"#) + Array("\"x\":1}\n".utf8)),
        ("a batch of nothings", Array("[".utf8) + times(200_000, "0,") + Array("0]\n".utf8)),
        ("answers to no call", times(5_000, #"{"jsonrpc":"2.0","id":1,"result":1}"# + "\n")),
        ("failures of no call", times(5_000, #"{"jsonrpc":"2.0","id":1,"error":{"code":-32050,"message":""}}"# + "\n")),
        ("cancels of no call", times(5_000, #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"# + "\n")),
        (
            "a hundred hellos",
            times(
                100, #"{"jsonrpc":"2.0","method":"rpc.hello","params":{"timeout":-9223372036854775808},"id":1}"# + "\n")
        ),
        (
            "timeouts at the edge",
            Array(
                [Int64.max, .min, 0, -1].map {
                    #"{"jsonrpc":"2.0","method":"Echo.text","params":["x"],"timeout":\#($0),"id":1}"# + "\n"
                }.joined().utf8)
        ),
        (
            "numbers at the edge",
            Array(
                ["9223372036854775807", "-9223372036854775808", "1e308", "-0", "0.0000001"].map {
                    #"{"jsonrpc":"2.0","method":"Calculator.divide","params":[\#($0),-1],"id":1}"# + "\n"
                }.joined().utf8)
        ),
        (
            "a delay beyond all time",
            Array(
                #"{"jsonrpc":"2.0","method":"Echo.later","params":["x",9223372036854775807],"id":1}"#.utf8) + [10]
        ),
    ]

    @Test func `the server is as it was after each of them`() async throws {
        try await withWire { url in
            for (name, bytes) in Self.lots {
                let client = try RawClient(url)
                client.send(bytes)
                client.finish()
                // A call that waits is not waited for.
                if name != "a delay beyond all time" { _ = try client.rest() }
                #expect(try brief(RawClient(url).ask(Said.value)) == "1=0", "\(name)")
            }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `the server is as it was after noise in every framing`(seed: UInt64) async throws {
        let beginnings = [
            "{", "[", "C", "c", "\0\0\0", "Content-Length: 40\r\n\r\n", "{\"jsonrpc\":\"2.0\",\"method\":\"", "",
        ]
        try await withWire { url in
            var random = SeededGenerator(seed: seed)
            for _ in 0..<40 {
                let beginning = Array((beginnings.randomElement(using: &random) ?? "").utf8)
                let noise = (0..<Int.random(in: 0..<2_000, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                let client = try RawClient(url)
                client.send(beginning + noise)
                client.finish()
                _ = try client.rest()
            }
            #expect(try brief(RawClient(url).ask(Said.value)) == "1=0")
        }
    }

    @Test(.enabled(if: ParsingSuite.isPresent))
    func `the public JSON suite is judged alike as messages and as parameters`() async throws {
        let files = try ParsingSuite.files()
        #expect(files.count > 300)
        try await withWire { url in
            let client = try RawClient(url, .headers)
            #expect(try brief(client.ask(Said.value)) == "1=0")
            for file in files {
                let text = try Data(contentsOf: file)
                // Nothing is not a message, and in brackets it is valid.
                guard text.contains(where: { !" \t\r\n".utf8.contains($0) }) else { continue }
                let call =
                    Array(#"{"jsonrpc":"2.0","id":1,"method":"Echo.text","params":["#.utf8) + text + Array("]}".utf8)
                for bytes in [Array(text), call] {
                    client.send(Array("Content-Length: \(bytes.count)\r\n\r\n".utf8) + bytes)
                    let isRefused = try brief(client.hear()) == "null!-32700"
                    switch file.lastPathComponent.first {
                    case "y": #expect(!isRefused, "\(file.lastPathComponent)")
                    case "n": #expect(isRefused, "\(file.lastPathComponent)")
                    default: break
                    }
                }
            }
            #expect(try brief(client.ask(Said.value)) == "1=0")
        }
    }
}
