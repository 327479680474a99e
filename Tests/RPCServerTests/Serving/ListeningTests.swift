// Where a server listens, and what it says when it cannot.

import Foundation
import Protocols
import RPCServer
import RemoteProxy
import Subjects
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Listening` {
    private func greeting(at url: Endpoint) async throws -> String {
        let client = RPCClient(url, .patient)
        defer { client.close() }
        return try await GreeterProxy(client).greet("you")
    }

    @Test(arguments: ["tcp://127.0.0.1:0", "tcp://localhost:0", "tcp://[::1]:0"])
    func `port 0 becomes the real port`(url: Endpoint) async throws {
        let server = RPCServer()
        server.export(GreeterProxy(EnglishGreeter()))
        let real = try await server.listen(on: url)
        #expect("\(real)".hasPrefix("\(url)".dropLast()))
        #expect(real != url)
        #expect(try await greeting(at: real) == "Hello, you!")
        await server.stop()
    }

    @Test func `one server listens on many addresses`() async throws {
        let folder = TemporaryFolder()
        let server = RPCServer()
        server.export(GreeterProxy(EnglishGreeter()))
        let urls = [
            try await server.listen(on: "tcp://127.0.0.1:0"), try await server.listen(on: "tcp://127.0.0.1:0"),
            try await server.listen(on: Endpoint("unix://\(folder.path)/socket")),
        ]
        #expect(Set(urls).count == 3)
        for url in urls { #expect(try await greeting(at: url) == "Hello, you!") }
        await server.stop()
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/socket"))
    }

    @Test(arguments: [
        ("tcp://127.0.0.1", "has no port"),
        ("http://127.0.0.1:80", "scheme \"http\""),
        ("unix://relative", "needs the whole path"),
        ("tcp://0.0.0.0:0", "can be reached from other machines"),
        ("tcp://192.0.2.1:0", "allowsOtherMachines"),
        ("unix:///nowhere/at/all/socket", "ENOENT"),
        ("unix:///dev/null", "EEXIST"),
        (
            "unix:///01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
            "has a path of 111 bytes; at most 107 fit"
        ),
    ])
    func `an address that cannot be had is named with the reason`(url: Endpoint, reason: String) async throws {
        let server = RPCServer()
        let error = await #expect(throws: RPCServer.ListenError.self) { try await server.listen(on: url) }
        #expect(error?.endpoint == url)
        let text = try #require(error).description
        #expect(text.contains("\(url)") && text.contains(reason) && !text.contains("\n"), "\(text)")
    }

    @Test func `an address in use is refused and stays with its first server`() async throws {
        let (first, second) = (RPCServer(), RPCServer())
        first.export(GreeterProxy(EnglishGreeter()))
        let url = try await first.listen(on: "tcp://127.0.0.1:0")
        let error = await #expect(throws: RPCServer.ListenError.self) {
            try await second.run(on: "tcp://127.0.0.1:0", url)
        }
        #expect(try #require(error).description.contains("EADDRINUSE"))
        #expect(try await greeting(at: url) == "Hello, you!")
        await first.stop()
    }

    @Test func `when one address of several cannot be had, none is left`() async throws {
        let folder = TemporaryFolder()
        let server = RPCServer()
        await #expect(throws: RPCServer.ListenError.self) {
            try await server.run(on: Endpoint("unix://\(folder.path)/socket"), "tcp://?:1")
        }
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/socket"))
    }

    @Test func `a server that has stopped listens no more`() async throws {
        let server = RPCServer()
        await server.stop()
        let error = await #expect(throws: RPCError.self) { try await server.listen(on: "tcp://127.0.0.1:0") }
        #expect(error?.code == .closed)
    }

    @Test func `more connections than allowed are closed and the log says why`() async throws {
        let log = LogLines()
        var configuration = RPCServer.Configuration()
        configuration.limits.maximumConnections = 1
        configuration.log = log.write
        let server = RPCServer(configuration)
        server.export(GreeterProxy(EnglishGreeter()))
        let url = try await server.listen(on: "tcp://127.0.0.1:0")
        let (first, second) = (RPCClient(url, .patient), RPCClient(url, .patient))
        #expect(try await GreeterProxy(first).greet("1") == "Hello, 1!")
        let late = Task { try await GreeterProxy(second).greet("2") }
        let line = await log.first { $0.contains("maximumConnections") }
        #expect(try #require(line).hasPrefix("refused tcp://127.0.0.1:"))
        #expect(server.counters.connectionsOpen == 1)
        // The place is free again, and the second client, which went on trying, gets it.
        first.close()
        #expect(try await late.value == "Hello, 2!")
        second.close()
        await server.stop()
        #expect(server.counters.connectionsOpen == 0)
    }
}
