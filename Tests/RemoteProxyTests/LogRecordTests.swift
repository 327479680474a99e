// What a log gets of an event, and what it gets of the messages when they are traced.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Log records` {
    private struct Failing: Probe {
        struct Failure: Error {}

        func echo(_ number: Int) async throws -> Int { throw Failure() }
        func fail(_ number: Int) async throws -> Int {
            throw RPCError(.busy, "later", outcome: .notExecuted, underlying: Failure())
        }
        func wait(_ number: Int, milliseconds: Int) async throws -> Int { number }
        func refuse(_ number: Int) async throws -> Int { number }
        func note(_ number: Int) {}
    }

    private final class Records: Sendable {
        private let kept = Lock<[LogRecord]>([])
        var all: [LogRecord] { kept.withLock { $0 } }
        var log: @Sendable (LogRecord) -> Void { { record in self.kept.withLock { $0.append(record) } } }
    }

    private let records = Records()

    @Test func `a failed call is told with its method, its caller, and the number that the caller has`() throws {
        let network = SimulatedNetwork(records: records.log)
        network.exports.add(ProbeProxy(Failing()), named: nil)
        let proxy = ProbeProxy(network.client())
        let error = network.loop.failure { try await proxy.echo(1) }
        let record = try #require(records.all.last)
        #expect(record.level == .error && record.method == "Probe.echo" && record.peer == "memory:left")
        #expect(record.session?.count == 8)
        let reference = try #require(record.failureID)
        #expect(error?.message.hasSuffix("under the failure ID \(reference)") == true)
        #expect(record.description == record.message && record.message.contains("failure ID \(reference): Failure()"))
        // In this century.
        #expect(record.time > .seconds(1_700_000_000) && record.time < .seconds(4_102_444_800))
        #expect(network.loop.failure { try await proxy.fail(1) }?.code == .busy)
        #expect(records.all.last?.level == .warning && records.all.last?.method == "Probe.fail")
    }

    @Test func `levels are ordered`() {
        #expect([LogRecord.Level.error, .debug, .warning, .notice].sorted() == [.debug, .notice, .warning, .error])
    }

    // MARK: traces

    @Test func `each message is told at both ends, in order and without secrets`() throws {
        let theirs = Records()
        var settings = LinkSettings()
        settings.traceMessages(true, into: theirs.log)
        settings.tokens = Lock(try TokenList(parsing: "alice - secret-secret-secret"))
        let network = SimulatedNetwork(settings: settings)
        network.exports.add(ProbeProxy(RecordingProbe(network.loop)), named: nil)
        var configuration = RPCClient.Configuration()
        configuration.tracesMessages = true
        configuration.log = records.log
        configuration.token = "secret-secret-secret"
        let proxy = ProbeProxy(network.client(configuration))
        #expect(try network.loop.complete { try await proxy.echo(7) } == 7)
        let lines = records.all.map(\.message)
        #expect(lines[0] == #"to memory:right: {"jsonrpc":"2.0","method":"rpc.hello","params":"…","id":0}"#)
        #expect(
            lines[1].hasPrefix(#"from memory:right: {"jsonrpc":"2.0","id":0,"result":{"protocol":4,"session":"…","#))
        #expect(lines[2] == #"to memory:right: {"jsonrpc":"2.0","method":"Probe.echo","params":[7],"id":1}"#)
        #expect(lines[3] == #"from memory:right: {"jsonrpc":"2.0","id":1,"result":7}"#)
        #expect(records.all.allSatisfy { $0.level == .debug && $0.peer == "memory:right" })
        let mirrored = lines.prefix(4).map { line in
            line.hasPrefix("to ")
                ? line.replacing("to memory:right", with: "from memory:left")
                : line.replacing("from memory:right", with: "to memory:left")
        }
        #expect(theirs.all.map(\.message).prefix(4) == mirrored[...])
    }

    @Test(arguments: [
        (
            #"{"method":"rpc.authenticate","params":["s3cret"],"id":1}"#,
            #"{"method":"rpc.authenticate","params":"…","id":1}"#
        ),
        (#"{"params":{"x":"s3cret"},"method":"rpc\u002ehello"}"#, #"{"params":"…","method":"rpc\u002ehello"}"#),
        (
            #"[{"method":"a","params":[1]},{"method":"rpc.authenticate","params":{"t":"s3cret"}}]"#,
            #"[{"method":"a","params":[1]},{"method":"rpc.authenticate","params":"…"}]"#
        ),
        (
            #"{"result":{"session":"s3cret","more":[{"tok\u0065n":"s3cret","b":2}]},"id":1}"#,
            #"{"result":{"session":"…","more":[{"tok\u0065n":"…","b":2}]},"id":1}"#
        ),
        (
            ##"{"params":[1],"metadata":{"#-authorization":"s3cret","a":"#","\u0023b":"s3cret"},"id":1}"##,
            ##"{"params":[1],"metadata":{"#-authorization":"…","a":"#","\u0023b":"…"},"id":1}"##
        ),
        (#"{"method":"rpc.hello","params":"s3cret""#, "39 bytes that are not JSON"),
        ("s3cret", "6 bytes that are not JSON"), ("", "0 bytes that are not JSON"), ("[]", "[]"), ("7", "7"),
        ("{\n}", #"{\n}"#),
        (
            String(repeating: "[", count: 20) + #""s3cret""# + String(repeating: "]", count: 20),
            String(repeating: "[", count: 17) + #""…""# + String(repeating: "]", count: 17)
        ),
        (
            "\"" + String(repeating: "x", count: 2_000) + "\"",
            "\"" + String(repeating: "x", count: 1_023) + "… (2002 bytes)"
        ),
        ("\"" + String(repeating: "x", count: 1_022) + "\"", "\"" + String(repeating: "x", count: 1_022) + "\""),
    ])
    func `what is secret is left out, wherever it is in a message`(message: String, shown: String) {
        Bytes(message).withUnsafeBytes { #expect(MessageTrace.text(of: $0, isLocked: false) == shown) }
    }

    @Test(arguments: [
        (
            #"{"jsonrpc":"2.0","id":1,"method":"rpc.Login","params":["s3cret"],"Params":"s3cret"}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"rpc.Login","params":"…","Params":"…"}"#
        ),
        (#"{"method":{"token":"s3cret"},"id":["s3cret"]}"#, #"{"method":"…","id":"…"}"#),
        (#""s3cret""#, #""…""#), (#"[["s3cret"],{"id":1}]"#, #"["…",{"id":1}]"#),
    ])
    func `of a peer that has still to log in only names and numbers are shown`(message: String, shown: String) {
        Bytes(message).withUnsafeBytes { #expect(MessageTrace.text(of: $0, isLocked: true) == shown) }
    }

    @Test func `nothing is told unless it is wanted`() throws {
        let network = SimulatedNetwork()
        network.exports.add(ProbeProxy(RecordingProbe(network.loop)), named: nil)
        var configuration = RPCClient.Configuration()
        configuration.log = records.log
        let proxy = ProbeProxy(network.client(configuration))
        #expect(try network.loop.complete { try await proxy.echo(7) } == 7)
        #expect(records.all.isEmpty)
    }
}
