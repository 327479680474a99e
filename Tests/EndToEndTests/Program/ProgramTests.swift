// What a person or a supervisor who starts `rpc-server` can rely on: its output, its exit codes, its signals.

import Foundation
import Protocols
import RemoteProxy
import TestSupport
import Testing

/// One at a time, so that no child inherits another's pipes.
@Suite(.serialized, .waitsForOthers) struct `rpc-server` {
    private static func later(_ milliseconds: Int) -> String {
        #"{"jsonrpc":"2.0","method":"Echo.later","params":["done",\#(milliseconds)],"id":2}"#
    }

    /// A client with a call that is running for sure, since a later one has been answered.
    private static func clientWithCall(_ url: Endpoint, milliseconds: Int) throws -> RawClient {
        let client = try RawClient(url)
        client.say(later(milliseconds))
        #expect(try brief(client.ask(Said.value)) == "1=0")
        return client
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `it says where it listens and nothing else, serves, and ends with 0`(signal: Int32) async throws {
        try await blocking {
            let server = try ServerProgram("--listen", "tcp://127.0.0.1:0")
            let url = try server.address()
            #expect("\(url)".hasPrefix("tcp://127.0.0.1:") && !"\(url)".hasSuffix(":0"))
            let client = try RawClient(url, .headers)
            #expect(try brief(client.ask(Said.value)) == "1=0")
            server.signal(signal)
            #expect(try client.hear() == nil)
            client.finish()
            #expect(server.end() == .init(code: 0, output: "", errors: ""))
        }.get()
    }

    @Test func `a program that does nothing but serve has objects on the main actor`() async throws {
        try await blocking {
            let server = try ServerProgram("--listen", "tcp://127.0.0.1:0", program: "ledger-server")
            let client = try RawClient(try server.address())
            client.say(#"{"jsonrpc":"2.0","method":"Board.show","params":["first"]}"#)
            #expect(
                try client.ask(#"{"jsonrpc":"2.0","method":"Board.lines","id":1}"#)?.contains(#"["first"]"#) == true)
            server.signal(SIGTERM)
            #expect(server.end().code == 0)
        }.get()
    }

    @Test func `it listens on as many addresses as it is given, and says so in their order`() async throws {
        try await blocking {
            let folder = try SocketFolder()
            let server = try ServerProgram("--listen", "tcp://127.0.0.1:0", "--listen=\(folder.url)")
            let first = try server.address()
            #expect(try server.line() == "listening on \(folder.url)")
            for url in [first, folder.url] { #expect(try brief(RawClient(url).ask(Said.value)) == "1=0") }
            server.signal(SIGTERM)
            #expect(server.end() == .init(code: 0, output: "", errors: ""))
            #expect(!folder.hasSocket)
        }.get()
    }

    @Test func `help and version go to standard output and end with 0`() async throws {
        try await blocking {
            let help = try ServerProgram("--help").end()
            #expect(help.code == 0 && help.errors == "")
            #expect(help.output.hasPrefix("usage: rpc-server [--listen URL]... [options]\n"))
            #expect(try ServerProgram("--version").end() == .init(code: 0, output: "rpc-server 0.2.0\n", errors: ""))
        }.get()
    }

    @Test(arguments: [
        ("--bogus", "there is no option '--bogus'"),
        ("--threads=none", "--threads takes a whole number from 1 to 1024, not 'none'"),
        ("--listen=", "--listen: the address \"\" has no scheme; write for instance tcp://127.0.0.1:7070"),
        (
            "--listen=tcp://0.0.0.0:0",
            "tcp://0.0.0.0:0 can be reached from other machines, and nothing keeps strangers out: give it a certificate "
                + "(--tls-certificate FILE --tls-key FILE, or --tls-self-signed FOLDER) and tokens (--tokens FILE), listen on "
                + "loopback, or set allowsOtherMachines (--insecure) if you mean it"
        ),
    ])
    func `a wrong command line is answered in one line and ends with 64`(word: String, fault: String) async throws {
        try await blocking {
            let end = try ServerProgram(word).end()
            #expect(end == .init(code: 64, output: "", errors: "rpc-server: \(fault); see rpc-server --help\n"))
        }.get()
    }

    @Test func `an address in use is answered in one line and ends with 1`() async throws {
        try await blocking {
            let first = try ServerProgram("--listen", "tcp://127.0.0.1:0")
            let url = try first.address()
            let second = try ServerProgram("--listen", "tcp://127.0.0.1:0", "--listen", "\(url)").end()
            #expect(second.code == 1 && second.output == "")
            #expect(second.errors.hasPrefix("rpc-server: cannot listen on \(url): "))
            #expect(second.errors.contains("EADDRINUSE") && second.errors.split(separator: "\n").count == 1)
            #expect(try brief(RawClient(url).ask(Said.value)) == "1=0")
        }.get()
    }

    @Test func `a signal lets running calls finish`() async throws {
        try await blocking {
            let server = try ServerProgram("--listen", "tcp://127.0.0.1:0")
            let url = try server.address()
            let client = try Self.clientWithCall(url, milliseconds: 300)
            server.signal(SIGTERM)
            #expect(try brief(client.hear()) == "2=\"done\"")
            #expect(try client.hear() == nil)
            client.finish()
            #expect(server.end() == .init(code: 0, output: "", errors: ""))
        }.get()
    }

    /// Asks until the answer is that the server stops.
    private static func askUntilRefused(_ client: RawClient) throws {
        var answer = ""
        while answer != "1!-32050" {
            answer = try brief(client.ask(Said.value))
            try #require(answer != "closed")
        }
    }

    @Test func `while it drains it takes no new calls and no new connections`() async throws {
        try await blocking {
            let server = try ServerProgram("--listen", "tcp://127.0.0.1:0", "--stop-grace", "3600")
            let url = try server.address()
            let client = try Self.clientWithCall(url, milliseconds: 86_400_000)
            server.signal(SIGTERM)
            try Self.askUntilRefused(client)
            #expect(throws: WireFault.self) { try RawClient(url) }
            client.say(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}"#)
            #expect(try brief(client.hear()) == "2!-32800")
            #expect(try client.hear() == nil)
            #expect(server.end() == .init(code: 0, output: "", errors: ""))
        }.get()
    }

    @Test func `a call that takes longer than the grace time is cut off`() async throws {
        try await blocking {
            let server = try ServerProgram("--listen", "tcp://127.0.0.1:0", "--stop-grace", "0.1")
            let client = try Self.clientWithCall(try server.address(), milliseconds: 86_400_000)
            server.signal(SIGTERM)
            #expect(try client.hear() == nil)
            #expect(server.end() == .init(code: 0, output: "", errors: ""))
        }.get()
    }

    @Test func `a second signal ends it at once`() async throws {
        try await blocking {
            let server = try ServerProgram("--listen", "tcp://127.0.0.1:0", "--stop-grace", "3600")
            let client = try Self.clientWithCall(try server.address(), milliseconds: 86_400_000)
            server.signal(SIGTERM)
            try Self.askUntilRefused(client)
            server.signal(SIGINT)
            #expect(server.end() == .init(code: 1, output: "", errors: ""))
        }.get()
    }

    @Test func `a socket file left by a dead server is replaced, a living server's is not`() async throws {
        try await blocking {
            let folder = try SocketFolder()
            let dead = try ServerProgram("--listen", "\(folder.url)")
            #expect(try dead.address() == folder.url)
            dead.signal(SIGKILL)
            #expect(dead.end().code == -SIGKILL && folder.hasSocket)
            let living = try ServerProgram("--listen", "\(folder.url)")
            #expect(try living.address() == folder.url)
            let refused = try ServerProgram("--listen", "\(folder.url)").end()
            #expect(refused.code == 1 && refused.errors.contains("EADDRINUSE"))
            #expect(try brief(RawClient(folder.url).ask(Said.value)) == "1=0")
        }.get()
    }

    @Test func `with insecure it listens to everybody and warns once, even when quiet`() async throws {
        try await blocking {
            let server = try ServerProgram(
                "--listen=tcp://0.0.0.0:0", "--listen=tcp://0.0.0.0:0", "--insecure", "--quiet")
            for url in [try server.address(), try server.address()] {
                #expect(try brief(RawClient(url).ask(Said.value)) == "1=0")
            }
            server.signal(SIGTERM)
            let warning =
                "rpc-server: warning: tcp://0.0.0.0:0 can be reached from other machines, and nothing keeps strangers "
                + "out (--insecure)\n"
            #expect(server.end() == .init(code: 0, output: "", errors: warning))
        }.get()
    }

    @Test(arguments: [true, false])
    func `with tokens it listens to everybody who has one, and shows none of them`(fromFile: Bool) async throws {
        try await blocking {
            let file = try TokenFile(Secrets.list, mode: 0o600)
            let server =
                fromFile
                ? try ServerProgram("--listen=tcp://0.0.0.0:0", "--insecure", "--tokens", file.path)
                : try ServerProgram("--listen=tcp://0.0.0.0:0", "--insecure", environment: ["RPC_TOKENS": Secrets.list])
            let url = try server.address()
            let client = try RawClient(url)
            #expect(try brief(client.ask(Said.value)) == "1!-32055")
            #expect(try client.ask(Secrets.authenticate(Secrets.alice))?.contains("alice") == true)
            #expect(try brief(client.ask(Said.value)) == "1=0")
            #expect(try brief(RawClient(url).ask(Secrets.authenticate(Secrets.alice + "x"))) == "1!-32055")
            let shown = try server.commandLine()
            server.signal(SIGTERM)
            client.finish()
            let end = server.end()
            // One line warns that others can read along, and one is about the wrong token.
            #expect(end.code == 0 && end.output == "" && end.errors.split(separator: "\n").count == 2)
            #expect(end.errors.contains("others can read and change the calls (--insecure)"))
            for secret in [Secrets.alice, "bob-fedcba9876543210"] {
                #expect(!"\(end) \(shown)".contains(secret))
            }
        }.get()
    }

    @Test(arguments: [
        (0o644, Secrets.list, "can be read by others (mode 644); take that away with: chmod 600 PATH"),
        (
            0o600, "alice short-secret",
            "line 1 of the token file PATH has a token of 12 characters; it takes at least 16"
        ),
        (0o600, "", "the token file PATH has no token, so no caller could come in"),
        (0o600, "\u{FEFF}\(Secrets.list)", "line 1 of the token file PATH begins with a byte-order mark"),
    ])
    func `a token file that cannot be trusted is a wrong command line`(mode: Int, text: String, why: String)
        async throws
    {
        try await blocking {
            let file = try TokenFile(text, mode: mode)
            let end = try ServerProgram("--tokens", file.path).end()
            #expect(end.code == 64 && end.errors.split(separator: "\n").count == 1)
            #expect(end.errors.contains(why.replacing("PATH", with: file.path)), "\(end.errors)")
            #expect(!end.errors.contains("secret") && !end.errors.contains(Secrets.alice))
        }.get()
    }

    @Test func `a server that stands still is found out by its clients, and found again when it goes on`() async throws
    {
        let server = try ServerProgram("--listen", "tcp://127.0.0.1:0")
        let url = try server.address()
        var configuration = RPCClient.Configuration.eager
        configuration.keepalive = Keepalive(interval: .milliseconds(200), timeout: .milliseconds(100))
        configuration.connectTimeout = .milliseconds(300)
        let client = RPCClient(url, configuration)
        let echo = EchoProxy(client)
        #expect(try await echo.text("1") == "1")
        var states = client.states.makeAsyncIterator()
        while let state = await states.next(isolation: nil), state != .connected(resumed: false) {}
        // The last that is heard of it is an answer that has yet to be asked for.
        let start = ContinuousClock.now
        #expect(try await echo.text("still there") == "still there")
        server.signal(SIGSTOP)
        let next = await states.next(isolation: nil)
        let silence = ContinuousClock.now - start
        #expect(next != nil && next != .connected(resumed: false) && next != .closed)
        #expect(silence > .milliseconds(250))
        server.signal(SIGCONT)
        #expect(try await echo.text("2") == "2")
        client.close()
    }

    @Test func `what it logs goes to standard error, one line each, and not at all when quiet`() async throws {
        try await blocking {
            for quiet in [false, true] {
                let server = try ServerProgram("--listen=tcp://127.0.0.1:0", quiet ? "--quiet" : "--threads=2")
                let client = try RawClient(try server.address())
                client.send("GET / HTTP/1.1\r\n\r\n")
                _ = try client.rest()
                client.finish()
                server.signal(SIGTERM)
                let end = server.end()
                #expect(end.code == 0 && end.output == "")
                let lines = end.errors.split(separator: "\n")
                #expect(lines.count == (quiet ? 0 : 1))
                #expect(lines.allSatisfy { $0.hasPrefix("rpc-server: closed tcp://127.0.0.1:") })
            }
        }.get()
    }

    @Test(arguments: [true, false])
    func `an option or a variable of the environment has each message logged`(isOption: Bool) async throws {
        try await blocking {
            let server = try ServerProgram(
                "--listen=tcp://127.0.0.1:0", isOption ? "--trace" : "--threads=1",
                environment: isOption ? [:] : ["RPC_TRACE": "1"])
            let client = try RawClient(try server.address())
            #expect(try brief(client.ask(Said.value)) == "1=0")
            client.finish()
            server.signal(SIGTERM)
            let lines = server.end().errors.split(separator: "\n")
            #expect(lines.count == 2)
            #expect(lines.first?.hasPrefix("rpc-server: from tcp://127.0.0.1:") == true)
            #expect(lines.first?.hasSuffix(": " + Said.value) == true)
            #expect(lines.last?.hasPrefix("rpc-server: to tcp://127.0.0.1:") == true)
            #expect(lines.last?.hasSuffix(#": {"jsonrpc":"2.0","id":1,"result":0}"#) == true)
        }.get()
    }

    @Test func `limits on the command line hold on the wire`() async throws {
        try await blocking {
            let server = try ServerProgram(
                "--listen=tcp://127.0.0.1:0", "--maximum-frame-size=200")
            let client = try RawClient(try server.address())
            #expect(try brief(client.ask(Said.value + String(repeating: " ", count: 200))) == "null!-32007")
        }.get()
    }
}
