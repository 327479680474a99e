// A server on standard input and output: pipes, files and sockets, what prints there, and how it ends.

import Foundation
import Protocols
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `A server on standard streams` {
    private struct End: Equatable {
        var code: Int32
        var lines: [String]
        var errors: String
    }

    /// Runs a script in which `$0` is the server.
    private static func run(
        _ script: String, server: String = "rpc-server", environment: [String: String] = [:]
    ) async throws -> End {
        let program = try ChildProcess.built(server)
        return try await blocking {
            let child = try ChildProcess("sh", ["-c", script, program], environment: environment)
            let output = ChildProcess.text(of: child.output)
            let errors = ChildProcess.text(of: child.errors)
            return End(
                code: child.waitForEnd(), lines: output.split(separator: "\n").map(String.init), errors: errors)
        }.get()
    }

    private static func request(_ id: Int, _ method: String, _ parameters: String) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":[\#(parameters)]}"#
    }

    private static func answer(_ id: Int, _ result: String) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"result":\#(result)}"#
    }

    @Test func `answers what a pipe says, and ends with it`() async throws {
        let end = try await Self.run(
            "printf '%s\\n' '\(Self.request(1, "Calculator.add", "2,3"))' | \"$0\" --stdio --quiet | cat")
        #expect(end == End(code: 0, lines: [Self.answer(1, "5")], errors: ""))
    }

    @Test func `answers all that a file asks, into another file`() async throws {
        let folder = TemporaryFolder()
        let requests = (1...5_000).map { Self.request($0, "Calculator.add", "\($0),1") }.joined(separator: "\n")
        try requests.write(toFile: "\(folder.path)/in", atomically: false, encoding: .utf8)
        let end = try await Self.run("\"$0\" --stdio --quiet <\(folder.path)/in >\(folder.path)/out")
        #expect(end == End(code: 0, lines: [], errors: ""))
        let lines = try String(contentsOfFile: "\(folder.path)/out", encoding: .utf8).split(separator: "\n")
        #expect(Set(lines.map(String.init)) == Set((1...5_000).map { Self.answer($0, "\($0 + 1)") }))
    }

    @Test func `lets a running call finish after the end of input, longer than a half-closed connection would`()
        async throws
    {
        let later = Self.request(1, "Echo.later", #""done",2500"#)
        let end = try await Self.run("printf '%s\\n' '\(later)' | \"$0\" --stdio --quiet")
        #expect(end == End(code: 0, lines: [Self.answer(1, "\"done\"")], errors: ""))
    }

    @Test func `cancels a call that takes longer than the grace time of a stop`() async throws {
        let later = Self.request(1, "Echo.later", #""done",86400000"#)
        let end = try await Self.run("printf '%s\\n' '\(later)' | \"$0\" --stdio --stop-grace 0.1")
        #expect(end.code == 0 && end.lines.count == 1 && end.lines[0].contains("-32800"), "\(end)")
    }

    @Test func `writes nothing but answers, whatever its objects print`() async throws {
        let show = Self.request(1, "Board.show", #""printed""#)
        let lines = Self.request(2, "Board.lines", "")
        let end = try await Self.run(
            "printf '%s\\n' '\(show)' '\(lines)' | \"$0\" --stdio --quiet", server: "ledger-server")
        #expect(end.code == 0 && end.lines.count == 2 && end.lines.allSatisfy { $0.hasPrefix("{") }, "\(end)")
        #expect(end.errors == "the board shows: printed\n")
    }

    @Test func `answers what is no message, as everywhere`() async throws {
        let end = try await Self.run("echo '{' | \"$0\" --stdio --quiet")
        #expect(end.code == 0 && end.lines.count == 1 && end.lines[0].contains("-32700"), "\(end)")
    }

    @Test func `loses no answer to a reader that is slow`() async throws {
        let text = Self.request(1, "Echo.text", "\"\(String(repeating: "x", count: 60_000))\"")
        // More than fits into the pipes and sockets on the way, and longer than a connection lingers.
        let end = try await Self.run(
            "for i in 1 2 3 4 5 6 7 8 9 10; do echo '\(text)'; done | \"$0\" --stdio --quiet | { sleep 2.5; wc -l; }")
        #expect(end == End(code: 0, lines: ["10"], errors: ""))
    }

    @Test func `needs no token of the program that has started it`() async throws {
        let end = try await Self.run(
            "printf '%s\\n' '\(Self.request(1, "Calculator.add", "2,3"))' | \"$0\" --stdio --quiet",
            environment: ["RPC_TOKENS": Secrets.list])
        #expect(end == End(code: 0, lines: [Self.answer(1, "5")], errors: ""))
        let client = RPCClient(
            .process(try ChildProcess.built("rpc-server"), ["--stdio"], environment: ["RPC_TOKENS": Secrets.list]),
            .patient)
        #expect(try await CalculatorProxy(client).add(2, 3) == 5)
        client.close()
    }

    @Test func `ends when its output has no reader`() async throws {
        let request = Self.request(1, "Calculator.add", "2,3")
        let end = try await Self.run("yes '\(request)' 2>/dev/null | \"$0\" --stdio --quiet | head -n 1")
        #expect(end.code == 0 && end.lines == [Self.answer(1, "5")])
    }

    @Test func `ends at a signal when running calls have finished, although its input goes on`() async throws {
        let program = try ChildProcess.built("rpc-server")
        let requests = [Self.request(1, "Echo.later", #""done",300"#), Self.request(2, "Calculator.add", "2,3"), ""]
        try await blocking {
            let folder = TemporaryFolder()
            let path = "\(folder.path)/in"
            #expect(mkfifo(path, 0o600) == 0)
            let child = try ChildProcess("sh", ["-c", #"exec "$0" --stdio <\#(path)"#, program])
            let input = try FileHandle(forWritingTo: URL(filePath: path))
            try input.write(contentsOf: Data(requests.joined(separator: "\n").utf8))
            // The answer to the second request tells that the first one runs.
            #expect(child.output.availableData == Data((Self.answer(2, "5") + "\n").utf8))
            child.signal(SIGTERM)
            #expect(ChildProcess.text(of: child.output) == Self.answer(1, "\"done\"") + "\n")
            #expect(child.waitForEnd() == 0)
            try input.close()
        }.get()
    }

    @Test(arguments: [
        (
            ["--stdio", "--listen=tcp://127.0.0.1:0"],
            "rpc-server: --stdio and --listen exclude each other; see rpc-server --help\n"
        ),
        (["attach"], "rpc-server: attach needs one address: rpc-server attach unix:///run/app.sock\n"),
    ])
    func `is not what a contradictory command line asks for`(arguments: [String], fault: String) async throws {
        let end = try await Self.run("exec \"$0\" \(arguments.joined(separator: " "))")
        #expect(end == End(code: 64, lines: [], errors: fault))
    }

    @Test func `says in one line that a stream is closed, or that there is nothing to attach to`() async throws {
        let closed = try await Self.run("exec \"$0\" --stdio <&-")
        #expect(
            closed.code == 1 && closed.errors == "rpc-server: standard input is closed\n",
            "\(closed)")
        let absent = try await Self.run("exec \"$0\" attach unix:///no/such/socket")
        #expect(absent.code == 1 && absent.errors.hasPrefix("rpc-server: unix:///no/such/socket: connect: ENOENT"))
    }
}
