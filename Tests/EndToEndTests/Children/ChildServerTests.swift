// Servers that a client starts itself: calls, restarts, errors, and what becomes of a child whose parent is gone.

import Faults
import Foundation
import Protocols
import RPCServer
import RPCSockets
import Subjects
import TestSupport
import Testing

@testable import RemoteProxy

@Suite(.waitsForOthers) struct `A client that starts its server` {
    private static func server(_ arguments: String...) throws -> Transport {
        .process(try ChildProcess.built("rpc-server"), ["--stdio"] + arguments)
    }

    /// A shell that tells its number on standard error, and then becomes a server.
    private static func named() throws -> [String] {
        ["-c", #"echo $$ >&2; exec "$0" --stdio"#, try ChildProcess.built("rpc-server")]
    }

    @Test func `calls it, posts to it, and has it gone when it is closed`() async throws {
        let log = Records()
        let client = RPCClient(.process("sh", try Self.named()), .logging(to: log))
        #expect(try await CalculatorProxy(client).add(2, 3) == 5)
        let counter = CounterProxy(client)
        (0..<100).forEach { counter.note("\($0)") }
        #expect(try await counter.notes().count == 100)
        let number = try #require(await log.numbers(1).first)
        #expect(await client.close(grace: .seconds(60)) == 0)
        await until { kill(number, 0) != 0 }
    }

    @Test func `passes it objects by reference, and is called back`() async throws {
        let client = RPCClient(try Self.server(), .patient)
        let heard = AsyncStream<String>.makeStream()
        let room = try await ChatProxy(client).join("hall", as: "ann", ChatMemberProxy(Ear(heard.continuation)))
        try await room.say("hello")
        #expect(await heard.stream.first { _ in true } == "ann: hello")
        client.close()
    }

    @Test func `starts it again after it was killed`() async throws {
        let log = Records()
        let client = RPCClient(.process("sh", try Self.named()), .logging(to: log))
        let calculator = CalculatorProxy(client)
        for round in 1...3 {
            #expect(try await calculator.add(round, 1) == round + 1)
            let number = try #require(await log.numbers(round).last)
            var states = client.states.makeAsyncIterator()
            kill(number, SIGKILL)
            while let state = await states.next(isolation: nil), case .connected = state {}
        }
        #expect(try await calculator.add(1, 1) == 2)
        client.close()
    }

    @Test func `does not start it again before the next call, when it has ended without one`() async throws {
        let log = Records()
        let client = RPCClient(.process("sh", try Self.named()), .logging(to: log))
        #expect(try await CalculatorProxy(client).add(1, 1) == 2)
        kill(try #require(await log.numbers(1).last), SIGKILL)
        await until { !client.requester.reach.isConnected }
        // Behind all that the loss has led to.
        await withCheckedContinuation { done in EventLoop.shared.submit { done.resume() } }
        #expect(await client.states.first { _ in true } == .idle)
        #expect(try await CalculatorProxy(client).add(1, 1) == 2)
        #expect(await log.numbers(2).count == 2)
        client.close()
    }

    /// Row C31 of "What became of my call".
    @Test func `ends a call whose answer it has not given, when it is killed`() async throws {
        let log = Records()
        let script = #"echo $$ >&2; exec "$0" --stdio --trace"#
        let client = RPCClient(
            .process("sh", ["-c", script, try ChildProcess.built("rpc-server")]), .logging(to: log))
        let calling = Task { try await EchoProxy(client).later("done", afterMilliseconds: 86_400_000) }
        await until { log.all.contains { $0.message.contains("Echo.later") } }
        let number = try #require(log.all.lazy.compactMap { pid_t($0.message.split(separator: ": ").last ?? "") }.first)
        kill(number, SIGKILL)
        let error = await #expect(throws: RPCError.self) { try await calling.value }
        #expect(
            error?.code == .connectionLost && error?.outcome == .unknown, "\(error.map(String.init(describing:)) ?? "")"
        )
        client.close()
    }

    /// Row C31 of "What became of my call".
    @Test func `tells a caller how it has ended`() async throws {
        var configuration = RPCClient.Configuration.eager
        configuration.waitsForConnection = false
        let client = RPCClient(.process("sh", ["-c", "echo no room >&2; exit 7"]), configuration)
        await #expect {
            _ = try await CalculatorProxy(client).add(1, 2)
        } throws: { error in
            let text = "\(error)"
            return text.contains("the child process sh (pid ")
                && text.contains(") ended with exit status 7; its last line on standard error: no room")
        }
        client.close()
    }

    /// Row C31 of "What became of my call".
    @Test func `learns at once that there is no such program, although it waits for connections`() async throws {
        for client in [
            RPCClient(.process("no-such-program"), .patient), RPCClient("exec:///no/such/program", .patient),
        ] {
            let error = await #expect(throws: RPCError.self) { try await client.connect() }
            #expect(error?.code == .unavailable && error?.message.contains("ENOENT") == true)
            await #expect(throws: RPCError.self) { _ = try await CalculatorProxy(client).add(1, 2) }
            client.close()
        }
    }

    @Test func `reaches it by an address, where nothing can listen`() async throws {
        let program = try ChildProcess.built("rpc-server")
        let url = try Endpoint("exec://\(program)?arg=--stdio&arg=--quiet&directory=/usr")
        let client = RPCClient(url, .patient)
        #expect(try await CalculatorProxy(client).add(2, 3) == 5)
        client.close()
        await #expect {
            try await RPCServer(.quiet).listen(on: url)
        } throws: { "\($0)".contains("starts a program, so nothing can listen there") }
        let halfAnAddress = "exec:cat"
        #expect(throws: RPCError.self) { try Endpoint(halfAnAddress) }
    }

    @Test func `understands it although its log goes to the same socket`() async throws {
        let script = #"exec "$0" --stdio --trace 2>&1"#
        let client = RPCClient(.process("sh", ["-c", script, try ChildProcess.built("rpc-server")]), .patient)
        for number in 1...10 { #expect(try await CalculatorProxy(client).add(number, 1) == number + 1) }
        client.close()
    }

    @Test func `keeps its log within limits, however much it says`() async throws {
        let (log, clock) = (Records(), ContinuousClock())
        let began = clock.now
        let script = #"seq 20000 >&2; head -c 1000000 /dev/zero | tr '\0' x >&2; exec "$0" --stdio"#
        let client = RPCClient(.process("sh", ["-c", script, try ChildProcess.built("rpc-server")]), .logging(to: log))
        #expect(try await CalculatorProxy(client).add(2, 3) == 5)
        await client.close(grace: .seconds(60))
        let records = log.all
        // A window of ten seconds has so many lines, and one more about those that were left out. A slow machine needs more windows.
        let windows = Int((clock.now - began) / .seconds(10)) + 1
        let said = records.filter { $0.peer == "sh" }
        #expect(said.count >= 1_000 && said.count <= 1_000 * windows && records.count - said.count <= windows)
        #expect(records.allSatisfy { $0.message.utf8.count < 9_000 })
    }

    /// The client of the killed process is in a ledger server, whose own child is the server.
    @Test func `takes it along when its process is killed`() async throws {
        let folder = try SocketFolder()
        let path = "\(folder.path)/ends"
        #expect(mkfifo(path, 0o600) == 0)
        // The pipe ends with the last process that has it open.
        let script = #"unset LEDGER_NEXT; exec "$0" --stdio 3>\#(path)"#
        let words = ["-c", script, try ChildProcess.built("ledger-server")].map { word in
            "arg=" + (word.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
        }
        let parent = try ServerProgram(
            "--listen", "\(folder.url)", "--quiet", program: "ledger-server",
            environment: ["LEDGER_NEXT": "exec:///bin/sh?" + words.joined(separator: "&")])
        let client = RPCClient(try parent.address(), .eager)
        let calling = Task { try await Faults.LedgerProxy(client).pass(waitingMilliseconds: 1) }
        let reader = await blocking {
            // Returns when the child has opened it too.
            try FileHandle(forReadingFrom: URL(filePath: path))
        }
        try await calling.value
        parent.signal(SIGKILL)
        let rest = await blocking { try reader.get().readToEnd() }
        #expect(try rest.get()?.isEmpty != false)
        client.close()
    }

    private final class Ear: ChatMember {
        private let heard: AsyncStream<String>.Continuation
        init(_ heard: AsyncStream<String>.Continuation) { self.heard = heard }
        func heard(_ text: String, from name: String) { heard.yield("\(name): \(text)") }
    }
}

/// The records of a log.
final class Records: Sendable {
    private let records = Lock<[LogRecord]>([])

    var all: [LogRecord] { records.withLock { $0 } }
    func add(_ record: LogRecord) { records.withLock { $0.append(record) } }

    /// The numbers that shells have told, when there are so many.
    func numbers(_ count: Int) async -> [pid_t] {
        var numbers: [pid_t] = []
        await until {
            numbers = all.compactMap { record in record.message.split(separator: ": ").last.flatMap { pid_t($0) } }
            return numbers.count >= count
        }
        return numbers
    }
}

extension RPCClient.Configuration {
    fileprivate static func logging(to log: Records) -> Self {
        var configuration = eager
        configuration.log = { log.add($0) }
        return configuration
    }
}
