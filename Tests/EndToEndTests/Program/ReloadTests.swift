// SIGHUP: `rpc-server` reads its file of tokens again.

import Foundation
import RemoteProxy
import TestSupport
import Testing

/// One at a time, so that no child inherits another's pipes.
@Suite(.serialized, .waitsForOthers) struct `rpc-server after SIGHUP` {
    private static let carol = "carol-0123456789abcdef"

    private static func isLetIn(_ token: String, at url: Endpoint) throws -> Bool {
        try RawClient(url).ask(Secrets.authenticate(token))?.contains(#""name":"#) == true
    }

    @Test func `new tokens are accepted, revoked ones are out, the others go on`() async throws {
        try await blocking {
            let file = try TokenFile(Secrets.list, mode: 0o600)
            let server = try ServerProgram("--listen=tcp://127.0.0.1:0", "--tokens", file.path)
            let url = try server.address()
            let (alice, bob) = (try RawClient(url), try RawClient(url))
            for (client, token) in [(alice, Secrets.alice), (bob, Secrets.bob)] {
                #expect(try client.ask(Secrets.authenticate(token))?.contains(#""name":"#) == true)
            }
            try file.write("alice admin,audit \(Secrets.alice)\ncarol \(Self.carol)")
            server.signal(SIGHUP)
            #expect(try server.logLine() == "rpc-server: read the token file \(file.path) again: 2 tokens")
            #expect(try bob.hear() == nil)
            #expect(try brief(alice.ask(Said.value)) == "1=0")
            #expect(try Self.isLetIn(Self.carol, at: url) && !Self.isLetIn(Secrets.bob, at: url))
            server.signal(SIGTERM)
            #expect(server.end().code == 0)
        }.get()
    }

    @Test(arguments: [
        ("carol short", "line 1 of the token file PATH has a token of 5 characters; it takes at least 16"),
        ("# nobody\n", "the token file PATH has no token, so no caller could come in"),
        ("\u{FEFF}carol \(carol)", "line 1 of the token file PATH begins with a byte-order mark"),
        (nil, "the token file PATH cannot be opened"),
    ])
    func `a file that cannot be used keeps the tokens as they were, and the log says why`(text: String?, why: String)
        async throws
    {
        try await blocking {
            let file = try TokenFile(Secrets.list, mode: 0o600)
            let server = try ServerProgram("--listen=tcp://127.0.0.1:0", "--tokens", file.path)
            let url = try server.address()
            let alice = try RawClient(url)
            #expect(try alice.ask(Secrets.authenticate(Secrets.alice))?.contains("alice") == true)
            if let text { try file.write(text) } else { try FileManager.default.removeItem(atPath: file.path) }
            server.signal(SIGHUP)
            let line = try server.logLine()
            #expect(line.hasPrefix("rpc-server: kept the tokens as they were: "))
            #expect(line.contains(why.replacing("PATH", with: file.path)), "\(line)")
            #expect(try brief(alice.ask(Said.value)) == "1=0")
            #expect(try Self.isLetIn(Secrets.bob, at: url) && !Self.isLetIn(Self.carol, at: url))
            server.signal(SIGTERM)
            #expect(server.end().code == 0)
        }.get()
    }

    @Test(arguments: [[:], ["RPC_TOKENS": Secrets.list]])
    func `without a file the signal is ignored, and the log says so`(environment: [String: String]) async throws {
        try await blocking {
            let server = try ServerProgram("--listen=tcp://127.0.0.1:0", environment: environment)
            let url = try server.address()
            server.signal(SIGHUP)
            let line = "rpc-server: ignored SIGHUP: there is no file to read again (--tokens, --tls-certificate)"
            #expect(try server.logLine() == line)
            #expect(try RawClient(url).ask(Secrets.authenticate(Secrets.alice)) != nil)
            server.signal(SIGTERM)
            #expect(server.end() == .init(code: 0, output: "", errors: ""))
        }.get()
    }
}
