import RPCWire
import Testing

struct HeaderBlockTests {
    @Test(
        arguments: [
            "Content-Length: 2\r\n\r\n{}",
            "Content-Length:2\r\n\r\n{}",
            "content-length:   2\r\n\r\n{}",
            "CONTENT-LENGTH: \t2 \t\r\n\r\n{}",
            "Content-Length: 0000000002\r\n\r\n{}",
            "Content-Type: application/vscode-jsonrpc; charset=utf8\r\nContent-Length: 2\r\n\r\n{}",
            "Content-Length: 2\r\ncontent-type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}",
            "Content-Type:\r\nContent-Type: a:b\r\nContent-Length: 2\r\n\r\n{}",
        ])
    func `what clients send is read`(text: String) {
        for size in 1...text.utf8.count {
            #expect(cut(Array(text.utf8).pieces(of: size)) == Cut(frames: ["{}"]))
        }
    }

    static let refused: [(String, FramingError.HeaderFault)] = [
        ("Content-Length 2\r\n", .noColon),
        ("Content-Length\r\n", .noColon),
        ("C\r\n", .noColon),
        ("C:\r\n", .unknownField),
        ("Content-Type: text/plain\r\n\r\n", .noContentLength),
        ("Content-Length: 2\r\nContent-Length: 2\r\n", .repeatedContentLength),
        ("Content-Length: 2\r\ncontent-length: 3\r\n", .repeatedContentLength),
        ("Content-Length: 2\r\nHost: localhost\r\n", .unknownField),
        ("Content-Length: 2\r\nOrigin: http://example.org\r\n", .unknownField),
        ("Content-Length: 2\r\nSec-Fetch-Mode: cors\r\n", .unknownField),
        ("Content-Length: 2\r\nX: y\r\n", .unknownField),
        ("Content-Lengt: 2\r\n", .unknownField),
        ("Content-Length-: 2\r\n", .unknownField),
        ("Content\u{D}Length: 2\r\n", .name),
        ("Content-Length : 2\r\n", .name),
        ("C ontent-Length: 2\r\n", .name),
        ("Content-L\u{E9}ngth: 2\r\n", .name),
        ("Content-Length: 2\r\n : 2\r\n", .name),
        ("Content-Length: 2\r\n: 2\r\n", .name),
        ("Content-Length: 2\r\n\tfolded: 2\r\n", .name),
        ("Content-Type: a\0b\r\n", .controlCharacter),
        ("Content-Type: a\rb\r\n", .controlCharacter),
        ("Content-Type: a\u{7F}\r\n", .controlCharacter),
        ("Content-Length: 2\r\r\n", .controlCharacter),
        ("Content-Length: 2\n", .noCarriageReturn),
        ("Content-Length: 2\r\n\n", .noCarriageReturn),
        ("Content-Length:\r\n", .contentLength),
        ("Content-Length: \r\n", .contentLength),
        ("Content-Length: a\r\n", .contentLength),
        ("Content-Length: +2\r\n", .contentLength),
        ("Content-Length: -2\r\n", .contentLength),
        ("Content-Length: -0\r\n", .contentLength),
        ("Content-Length: 0x2\r\n", .contentLength),
        ("Content-Length: 2.0\r\n", .contentLength),
        ("Content-Length: 2,2\r\n", .contentLength),
        ("Content-Length: 2 2\r\n", .contentLength),
        ("Content-Length: \u{662}\r\n", .contentLength),
        ("Content-Length: 00000000002\r\n", .contentLength),
        ("Content-Length: 18446744073709551618\r\n", .contentLength),
        ("Content-Length: \(String(repeating: "9", count: 1000))\r\n", .contentLength),
    ]

    @Test(arguments: refused)
    func `anything else ends the stream, however it is cut`(text: String, fault: FramingError.HeaderFault) {
        for size in 1...min(text.utf8.count, 40) {
            #expect(cut(Array(text.utf8).pieces(of: size)) == Cut(error: .header(fault)))
        }
    }

    @Test(arguments: refused.prefix(8))
    func `a later block is held to the same rules`(text: String, fault: FramingError.HeaderFault) {
        #expect(cut("Content-Length: 2\r\n\r\n{}" + text) == Cut(frames: ["{}"], error: .header(fault)))
    }

    @Test func `text in place of a block is refused, not waited for`() {
        let stream = "Content-Length: 1\r\n\r\n{}\nContent-Length: 2\r\n\r\n{}"
        #expect(cut(stream) == Cut(frames: ["{"], error: .header(.noCarriageReturn)))
    }
}
