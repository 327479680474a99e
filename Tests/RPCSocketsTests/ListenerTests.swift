import CSystem
import RPCWire
import TestSupport
import Testing

@testable import RPCSockets

@Suite(.waitsForOthers) struct ListenerTests {
    @Test func `port zero becomes the port that the system chose`() async throws {
        try await withLoop { loop in
            let listener = try await Listener.listen(on: SocketEndpoint("tcp://localhost:0"), loop: loop) { _, _ in }
            guard case .tcp("localhost", let port) = listener.endpoint else {
                Issue.record("\(listener.endpoint)")
                return
            }
            #expect(port != 0)
            listener.close()
        }
    }

    @Test func `a port that is taken is an error that says so`() async throws {
        try await withLoop { loop in
            let server = try await EchoServer(on: loop)
            let error = await #expect(throws: SetupError.self) {
                try await Listener.listen(on: server.endpoint, loop: loop) { _, _ in }
            }
            #expect(error?.description.contains("cannot listen on \(server.endpoint): bind: EADDRINUSE") == true)
        }
    }

    @Test func `a connection can live on another loop than its listener`() async throws {
        try await withLoop { loop in
            try await withLoop { other in
                let listener = try await Listener.listen(
                    on: .tcp(host: "127.0.0.1", port: 0), loop: loop
                ) { socket, peer in
                    let stream = SocketChannel(socket, on: other, remoteAddress: peer.description)
                    stream.open(LineEcho(stream))
                }
                let stream = try await Connector.stream(to: listener.endpoint, on: loop)
                let receiver = RecordingReceiver(on: loop)
                stream.open(receiver)
                stream.send("across")
                try await receiver.wait { !$0.bytes.isEmpty }
                #expect(receiver.text == "across\n")
            }
        }
    }

    @Test func `a socket file is private, knows its peer's user, and goes with its listener`() async throws {
        try await withLoop { loop in
            let path = temporaryPath("private")
            let server = try await EchoServer(on: loop, endpoint: .unix(path: path))
            var status = stat()
            #expect(lstat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            let stream = try await Connector.stream(to: server.endpoint, on: loop)
            let receiver = RecordingReceiver(on: loop)
            stream.open(receiver)
            stream.send("who am I")
            try await receiver.wait { !$0.bytes.isEmpty }
            #expect(server.accepted.map(\.peer) == [.user(getuid())])
            server.close()
            try await loop.perform {}
            #expect(lstat(path, &status) == -1)
        }
    }

    @Test func `a socket file is private also under umask 0`() async {
        await #expect(processExitsWith: .success) {
            try await withLoop { loop in
                umask(0)
                let path = temporaryPath("open")
                let server = try await EchoServer(on: loop, endpoint: .unix(path: path))
                var status = stat()
                try #require(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
                server.close()
            }
        }
    }

    @Test func `a socket file that a dead server left is replaced`() async throws {
        try await withLoop { loop in
            let path = temporaryPath("stale")
            let address = try #require(SocketAddress(path: path))
            let dead = try Socket.make(for: address)
            #expect(address.withPointer { CSystem.bind(dead.descriptor, $0, $1) } == 0)
            dead.close()
            let server = try await EchoServer(on: loop, endpoint: .unix(path: path))
            try await Connector.stream(to: server.endpoint, on: loop).abort()
            server.close()
        }
    }

    @Test func `the socket file of a living server is left alone`() async throws {
        try await withLoop { loop in
            let endpoint = SocketEndpoint.unix(path: temporaryPath("alive"))
            let server = try await EchoServer(on: loop, endpoint: endpoint)
            let error = await #expect(throws: SetupError.self) {
                try await Listener.listen(on: endpoint, loop: loop) { _, _ in }
            }
            #expect(error?.description.contains("EADDRINUSE") == true)
            try await Connector.stream(to: server.endpoint, on: loop).abort()
            server.close()
        }
    }

    @Test func `a symbolic link at the path is refused, and so is any other file`() async throws {
        try await withLoop { loop in
            let (link, file) = (temporaryPath("link"), temporaryPath("file"))
            #expect(symlink("/tmp/rpc-elsewhere", link) == 0)
            close(creat(file, 0o600))
            defer {
                unlink(link)
                unlink(file)
            }
            for (path, name) in [(link, "ELOOP"), (file, "EEXIST")] {
                let error = await #expect(throws: SetupError.self) {
                    try await Listener.listen(on: .unix(path: path), loop: loop) { _, _ in }
                }
                #expect(error?.description.contains(name) == true)
            }
            var status = stat()
            #expect(lstat("/tmp/rpc-elsewhere", &status) == -1)
        }
    }

    @Test func `a socket file that another server has put in place is not removed`() async throws {
        try await withLoop { loop in
            let path = temporaryPath("successor")
            let first = try await EchoServer(on: loop, endpoint: .unix(path: path))
            unlink(path)
            let second = try await EchoServer(on: loop, endpoint: .unix(path: path))
            first.close()
            try await loop.perform {}
            try await Connector.stream(to: second.endpoint, on: loop).abort()
            second.close()
        }
    }
}
