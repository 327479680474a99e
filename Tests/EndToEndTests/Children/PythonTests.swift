// Programs in Python at the other end of standard streams: a language server as our child, and our server as theirs.

import Foundation
import Protocols
import RemoteProxy
import Subjects
import TestSupport
import Testing

@Suite(.waitsForOthers, .enabled(if: hasPython, "python3 is not there")) struct `Python on standard streams` {
    /// Reads and writes messages as language servers do.
    private static let framing = """
        import json, subprocess, sys
        def read(stream):
            size = None
            while True:
                line = stream.readline()
                if not line: return None
                if line == b"\\r\\n": break
                name, value = line.split(b":", 1)
                if name.lower() == b"content-length": size = int(value)
            return json.loads(stream.read(size))
        def write(stream, **message):
            body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
            stream.write(b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
            stream.flush()

        """

    @Test func `a language server is called, calls back, and ends at the end of its input`() async throws {
        let script =
            Self.framing + """
                source, sink = sys.stdin.buffer, sys.stdout.buffer
                while (message := read(source)) is not None:
                    if message["method"] == "Calculator.divide":
                        write(sink, id=message["id"], error={"code": -32803, "message": "request failed"})
                    elif message["method"] == "Calculator.add":
                        # An editor is asked while it waits for its answer, as for workspace/configuration.
                        write(sink, id="c1", method="Greeter.greet", params=["Python"])
                        reply = read(source)
                        assert reply["id"] == "c1" and reply["result"] == "Hello, Python!", reply
                        write(sink, id=message["id"], result=sum(message["params"]))
                print("end of input", file=sys.stderr)
                """
        let ended = AsyncStream<String>.makeStream()
        var configuration = RPCClient.Configuration.patient
        configuration.peer = .jsonRPC(.headers)
        configuration.log = { ended.continuation.yield($0.message) }
        let client = RPCClient(.process("python3", ["-c", script]), configuration)
        client.export(GreeterProxy(EnglishGreeter()))
        let calculator = CalculatorProxy(client)
        #expect(try await calculator.add(2, 3) == 5)
        let error = await #expect(throws: RPCError.self) { try await calculator.divide(1, by: 2) }
        #expect(error?.message.contains("request failed") == true)
        await client.close(grace: .seconds(60))
        #expect(await ended.stream.first { _ in true } == "python3: end of input")
    }

    @Test func `our server is a child of subprocess, over pipes`() async throws {
        let script =
            Self.framing + """
                server = subprocess.Popen([sys.argv[1], "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                for number in range(1000):
                    write(server.stdin, id=number, method="Calculator.add", params=[number, 1])
                    answer = read(server.stdout)
                    assert answer == {"jsonrpc": "2.0", "id": number, "result": number + 1}, answer
                text = "ü" * 100000
                write(server.stdin, id="t", method="Echo.text", params=[text])
                assert read(server.stdout)["result"] == text
                write(server.stdin, id="l", method="Echo.later", params=["late", 100])
                server.stdin.close()
                assert read(server.stdout)["result"] == "late"
                assert server.stdout.read() == b"" and server.wait() == 0
                print("all is well")
                """
        let program = try ChildProcess.built("rpc-server")
        let end = try await blocking {
            let child = try ChildProcess("python3", ["-c", script, program])
            let (output, errors) = (ChildProcess.text(of: child.output), ChildProcess.text(of: child.errors))
            return (child.waitForEnd(), output, errors)
        }.get()
        #expect(end == (0, "all is well\n", ""))
    }
}

/// Whether there is an interpreter on this machine.
private let hasPython = (try? ChildProcess("python3", ["-c", ""]).waitForEnd()) == 0
