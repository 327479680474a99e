// What is not JSON-RPC: browsers, other protocols, broken JSON. Nothing of it is executed.

import RPCServer
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Refusals` {
    private static let count = #"{"jsonrpc":"2.0","method":"Counter.next","id":1}"#
    private static let value = #"{"jsonrpc":"2.0","method":"Counter.value","id":1}"#

    private static func post(_ line: String, _ headers: String...) -> String {
        ([line] + headers + ["Content-Length: \(count.utf8.count + 2)", "", "\n\(count)\n"]).joined(separator: "\r\n")
    }

    private static let dresses = [
        "GET / HTTP/1.1\r\nHost: localhost:7070\r\n\r\n", "get / http/1.0\r\n\r\n", "HEAD / HTTP/1.1\r\n\r\n",
        "DELETE /x HTTP/1.1\r\n\r\n", "TRACE / HTTP/1.1\r\n\r\n", "PATCH / HTTP/1.1\r\n\r\n",
        "OPTIONS / HTTP/1.1\r\nOrigin: https://example.org\r\nAccess-Control-Request-Method: POST\r\n\r\n",
        "GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "hello\n",
        post("POST / HTTP/1.1", "Host: localhost", "Content-Type: application/json"),
        post("POST / HTTP/1.1", "Host: localhost", "Content-Type: text/plain", "Origin: https://example.org"),
        post("PUT / HTTP/1.1", "Host: rebound.example.org"),
        // A page that has reached the port by a rebound name chooses method and path.
        post("C / HTTP/1.1", "Host: rebound.example.org"), post("C /:1 HTTP/1.1", "Host: rebound.example.org"),
        post("CONNECT x:1 HTTP/1.1"), post("COPY /: HTTP/1.1"), post("Content-Length /:9 HTTP/1.1"),
        post("content-length: HTTP/1.1"), post("C HTTP/1.1"), post("C:1 HTTP/1.1"),
    ]

    @Test(arguments: dresses)
    func `an HTTP request is refused in HTTP or as no header, and nothing runs`(request: String) async throws {
        try await withWire { url in
            let browser = try RawClient(url)
            browser.send(request)
            let answer = try browser.rest()
            #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n") || answer.contains("-32700"), "\(answer)")
            #expect(answer.utf8.count < 300 && !answer.contains("Access-Control"))
            #expect(try brief(RawClient(url).ask(Self.value)) == "1=0")
        }
    }

    /// What a page can make a browser send without asking first, and what it asks first; the host is one that the page
    /// has had rebound to this machine. Methods that a page may choose at a rebound host begin with a C.
    private static let battery: [String] = {
        let types = ["application/json", "text/plain", "application/x-www-form-urlencoded"]
        let simple = ["GET", "POST", "PUT", "OPTIONS", "HEAD", "PATCH", "DELETE", "QUERY"].flatMap { method in
            types.flatMap { type in
                ["localhost:7070", "rebound.example.org"].map { host in
                    post(
                        "\(method) / HTTP/1.1", "Host: \(host)", "Origin: https://example.org", "Content-Type: \(type)")
                }
            }
        }
        let methods = ["C", "c", "CALL", "Content-Length", "content-length", "CONNECT", "COPY"]
        let paths = ["/", "/:1", "/: 2", "*", ":", ":\(count.utf8.count + 2)", " :9", "http://x/:9"]
        let versions = ["HTTP/1.1", "HTTP/1.0", ""]
        let chosen = methods.flatMap { method in
            paths.flatMap { path in
                versions.map { version in post("\(method) \(path) \(version)", "Host: rebound.example.org") }
            }
        }
        return simple + chosen
    }()

    @Test func `nothing that a browser can be made to send runs anything or is welcome`() async throws {
        #expect(Self.battery.count == 48 + 168)
        try await withWire { url in
            for request in Self.battery {
                let browser = try RawClient(url)
                browser.send(request)
                let answer = try browser.rest()
                let line = request.prefix { $0 != "\r\n" }
                #expect(
                    answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n") || answer.contains("-32700"), "\(line): \(answer)")
                #expect(!answer.contains("Access-Control") && !answer.contains("result"), "\(line)")
            }
            #expect(try brief(RawClient(url).ask(Self.value)) == "1=0")
        }
    }

    @Test func `the answer to HTTP is whole and as long as it says`() async throws {
        try await withWire { url in
            let browser = try RawClient(url)
            browser.send("GET / HTTP/1.1\r\n\r\n")
            let parts = try browser.rest().split(separator: "\r\n\r\n", maxSplits: 1)
            #expect(parts.count == 2 && parts[0].contains("Content-Length: \(parts[1].utf8.count)"))
            #expect(parts[0].contains("Connection: close"))
        }
    }

    @Test(arguments: [
        "Host: x", "Origin: null", "Sec-Fetch-Mode: cors", "Connection: close", "no colon", "Content Length: 2",
        " Content-Length: 2", "Content-Length : 2", ": 2", "Content-Length: 2\r\nContent-Length: 2",
        "Content-Length: -1", "Content-Length: +1", "Content-Length: 0x10", "Content-Length: 1 2", "Content-Length:",
        "Content-Length: 99999999999", "Content-Length: 18446744073709551617", "Content-Type: x", "Content-Length: a",
        "Content-Type: \u{1}\r\nContent-Length: 2",
    ])
    func `a header block that is not one ends the connection with an answer`(headers: String) async throws {
        try await withWire { url in
            let client = try RawClient(url, .headers)
            #expect(try brief(client.ask(Self.value)) == "1=0")
            client.send("\(headers)\r\n\r\n\(Self.count)")
            #expect(try brief(client.hear()) == "null!-32700")
            #expect(try client.hear() == nil)
            #expect(try brief(RawClient(url).ask(Self.value)) == "1=0")
        }
    }

    @Test(arguments: [
        "{oops", "[1", "{\"a\":1}}", "0", "\"x\"", "\u{FEFF}{}", "\u{16}\u{3}\u{1}", "\u{1}", "{\"jsonrpc\":",
    ])
    func `a first message that is not JSON is answered once and the connection closed`(text: String) async throws {
        try await withWire { url in
            let client = try RawClient(url)
            client.send("\(text)\n\(Self.count)\n\(Self.count)\n")
            let answers = try client.rest().split(separator: "\n")
            #expect(answers.count == 1)
            #expect(try brief(answers.first.map(String.init)) == "null!-32700")
            #expect(try brief(RawClient(url).ask(Self.value)) == "1=0")
        }
    }

    @Test(arguments: WireFraming.allCases)
    func `a later message that is not JSON is answered and the connection goes on`(framing: WireFraming) async throws {
        try await withWire { url in
            let client = try RawClient(url, framing)
            #expect(try brief(client.ask(Self.value)) == "1=0")
            for wrong in ["{oops", "nonsense", "[1,", "{\"jsonrpc\":\"2.0\" \"id\":1}", "\u{0}", "[1}"] {
                #expect(try brief(client.ask(wrong)) == "null!-32700", "\(wrong)")
                #expect(try brief(client.ask(Self.value)) == "1=0")
            }
        }
    }

    @Test func `a first message that is JSON but no request leaves the connection open`() async throws {
        try await withWire { url in
            let client = try RawClient(url)
            #expect(try brief(client.ask("{}")) == "null!-32600")
            #expect(try brief(client.ask(Self.value)) == "1=0")
        }
    }

    /// Row C20 of "What became of my call".
    @Test func `of a post that nobody takes the log is told, and what there is`() async throws {
        let log = LoggedLines()
        var configuration = RPCServer.Configuration()
        configuration.log = log.add
        try await withWire(configuration) { url in
            let client = try RawClient(url)
            for method in ["Counter.notice", "Counter[x].note", "Nobody.note", "$/optional"] {
                client.say(#"{"jsonrpc":"2.0","method":"\#(method)"}"#)
            }
            #expect(try brief(client.ask(Self.value)) == "1=0")
        }
        let there =
            "the server has not exported it (server.export(…)); exported: Calculator, Greeter, Echo, Counter"
        let texts = [
            "there is no method Counter.notice; Counter has increment, next, value, note, notes",
            "there is no object Counter[x]; \(there)", "there is no method Nobody.note; \(there)",
        ]
        let refusals = log.lines.filter { $0.hasPrefix("refused a post from tcp://127.0.0.1:") }
        #expect(refusals.count == texts.count)
        for (refusal, text) in zip(refusals, texts) { #expect(refusal.hasSuffix(text), "\(refusal)") }
    }
}
