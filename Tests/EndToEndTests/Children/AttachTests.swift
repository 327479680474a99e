// Servers over ssh: one that ssh starts, and one that lives on beyond the ssh that attaches to it. The ssh of these tests is a
// shell, unless `.ci/ssh` gives them a real one.

import Faults
import Foundation
import Protocols
import RPCSockets
import RemoteProxy
import TestSupport
import Testing

extension FaultRuns {
    /// The command of a real ssh, with its host, under `.ci/ssh`.
    private static var ssh: String { ProcessInfo.processInfo.environment["REMOTEPROXY_SSH"] ?? "" }

    @Test func `a server over ssh is called`() async throws {
        let client = RPCClient(
            .process("sh", ["-c", #"exec \#(Self.ssh) "$0" --stdio"#, try ChildProcess.built("rpc-server")]), .patient)
        #expect(try await CalculatorProxy(client).add(2, 3) == 5)
        let text = String(repeating: "far ", count: 250_000)
        #expect(try await EchoProxy(client).text(text) == text)
        await client.close(grace: .seconds(60))
    }

    @Test func `64 callers notice nothing of an ssh that is killed ten times`() async throws {
        let house = try LedgerHouse()
        let (server, url) = try house.start()
        defer { server.signal(9) }
        let numbers = Lock<[pid_t]>([])
        var configuration = RPCClient.Configuration.eager
        configuration.log = { record in
            if let number = record.message.split(separator: ": ").last.flatMap({ pid_t($0) }) {
                numbers.withLock { $0.append(number) }
            }
        }
        let way = #"echo $$ >&2; exec \#(Self.ssh) "$0" attach "$1""#
        let client = RPCClient(
            .process("sh", ["-c", way, try ChildProcess.built("rpc-server"), "\(url)"]), configuration)
        let crowd = Crowd(client)
        let calling = Task { await crowd.call(slowly: 5) }
        for cut in 1...10 {
            await crowd.proceed(by: Self.size(200, full: 2_000))
            await until { numbers.withLock { $0.count } >= cut }
            kill(numbers.withLock { $0[cut - 1] }, SIGKILL)
        }
        await crowd.proceed(by: 200)
        crowd.stop()
        await calling.value

        expectNone(house.faults(crowd, isComplete: true))
        let records = crowd.history.calls
        print("killed the way to the server 10 times: \(records.answered) of \(records.count) answered")
        #expect(records.answered == records.count)
        #expect(house.entries.executions.count == records.count)
        #expect(numbers.withLock { $0.count } == 11)
        await client.close(grace: .seconds(60))
    }
}

@Suite(.waitsForOthers) struct `Attaching to a server` {
    @Test func `copies until the server has nothing more to say`() async throws {
        let program = try ChildProcess.built("rpc-server")
        let end = try await blocking {
            let folder = try SocketFolder()
            let server = try ServerProgram("--listen", "\(folder.url)")
            _ = try server.address()
            let ask = #"{"jsonrpc":"2.0","id":1,"method":"Echo.later","params":["done",300]}"#
            let child = try ChildProcess(
                "sh", ["-c", "printf '%s\\n' '\(ask)' | \"$0\" attach \(folder.url)", program])
            let output = ChildProcess.text(of: child.output)
            return (child.waitForEnd(), output)
        }.get()
        #expect(end == (0, #"{"jsonrpc":"2.0","id":1,"result":"done"}"# + "\n"))
    }

    @Test func `ends when the server is gone, although its input goes on`() async throws {
        let folder = try SocketFolder()
        let server = try ServerProgram("--listen", "\(folder.url)", "--quiet")
        _ = try server.address()
        var configuration = RPCClient.Configuration.eager
        configuration.waitsForConnection = false
        let client = RPCClient(
            .process(try ChildProcess.built("rpc-server"), ["attach", "\(folder.url)"]), configuration)
        #expect(try await CalculatorProxy(client).add(2, 3) == 5)
        var states = client.states.makeAsyncIterator()
        server.signal(SIGKILL)
        while let state = await states.next(isolation: nil) {
            if case .waiting(_, let error) = state, error.message.contains("connect: E") { break }
        }
        client.close()
    }
}
