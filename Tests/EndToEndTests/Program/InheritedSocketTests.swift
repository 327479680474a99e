// Programs whose sockets a supervisor has opened, as systemd does for a unit with a socket. Here the supervisor is a Python script.

import Foundation
import Protocols
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `A server whose supervisor listens for it` {
    /// Starts `rpc-server` with what the script has made of descriptor 3.
    private static func start(
        _ open: String, process: String = "os.getpid()", count: String = "1", _ arguments: String...
    ) throws -> ChildProcess {
        let script = """
            import os, socket, sys
            file = \(open)
            os.dup2(file.fileno(), 3)
            os.set_inheritable(3, True)
            os.environ.update(LISTEN_PID=str(\(process)), LISTEN_FDS="\(count)", LISTEN_FDNAMES="rpc")
            os.execv(sys.argv[1], sys.argv[1:])
            """
        return try ChildProcess("python3", ["-c", script, try ChildProcess.built("rpc-server")] + arguments)
    }

    private static func line(of child: ChildProcess) async throws -> String {
        try await blocking { String(decoding: child.output.availableData, as: UTF8.self) }.get()
    }

    private static let port = #"socket.create_server(("127.0.0.1", 0))"#

    @Test func `serves its sockets, and leaves their files where they are`() async throws {
        let folder = try SocketFolder()
        let path = "\(folder.path)/s"
        let child = try Self.start("socket.create_server('\(path)', family=socket.AF_UNIX)")
        #expect(try await Self.line(of: child) == "listening on unix://\(path)\n")
        let client = RPCClient(try Endpoint("unix://\(path)"), .patient)
        #expect(try await CalculatorProxy(client).add(2, 3) == 5)
        await client.close(grace: .seconds(60))
        child.signal(SIGTERM)
        #expect(try await blocking { child.waitForEnd() }.get() == 0)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func `serves a port, which takes the place of the usual one`() async throws {
        let child = try Self.start(Self.port)
        let line = try await Self.line(of: child)
        #expect(line.split(separator: "\n").count == 1 && !line.contains(":7070"), "\(line)")
        let client = RPCClient(try Endpoint(String(line.split(separator: " ")[2].dropLast())), .patient)
        #expect(try await CalculatorProxy(client).add(2, 3) == 5)
        client.close()
    }

    @Test func `takes no sockets that are meant for another process`() async throws {
        let child = try Self.start(Self.port, process: "os.getppid()", "--listen", "tcp://localhost:0")
        #expect(try await Self.line(of: child).hasPrefix("listening on tcp://localhost:"))
    }

    @Test(arguments: [
        ("open('/dev/null')", "1", Int32(1), "descriptor 3, of LISTEN_FDS, is no TCP or Unix-domain socket"),
        (Self.port, "many", 1, "LISTEN_FDS is 'many'"),
        ("socket.socketpair()[0]", "1", 1, "descriptor 3, of LISTEN_FDS, is no TCP or Unix-domain socket"),
        (Self.port, "2", 1, "descriptor 4, of LISTEN_FDS, was not handed over"),
        (#"socket.create_server(("0.0.0.0", 0))"#, "1", 64, "can be reached from other machines"),
    ])
    func `says what it was handed over and cannot serve`(
        open: String, count: String, code: Int32, reason: String
    ) async throws {
        let end = try await blocking {
            let child = try Self.start(open, count: count)
            return (ChildProcess.text(of: child.errors), child.waitForEnd())
        }.get()
        #expect(end.0.contains(reason) && end.1 == code, "\(end)")
    }
}
