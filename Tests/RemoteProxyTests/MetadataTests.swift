// What travels with calls and posts besides their arguments: to the subject, and with the calls that the subject makes.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Metadata of calls` {
    /// Notes what came with each call and post, and passes calls on to another end if there is one.
    private final class Teller: Probe {
        let seen = Lock<[String]>([])
        private let next: ProbeProxy?

        init(next: ProbeProxy? = nil) { self.next = next }

        private func tell(_ number: Int) {
            let entries = (Caller.current?.metadata ?? [:]).sorted { $0.key < $1.key }
            seen.withLock { $0.append(entries.reduce("\(number)") { "\($0) \($1.key)=\($1.value)" }) }
        }

        func echo(_ number: Int) async throws -> Int {
            tell(number)
            return try await next?.echo(number) ?? number
        }
        func fail(_ number: Int) async throws -> Int {
            tell(number)
            return try await withCallMetadata(["added": "here"]) { try await next?.echo(number) ?? number }
        }
        func wait(_ number: Int, milliseconds: Int) async throws -> Int { number }
        func refuse(_ number: Int) async throws -> Int { number }
        func note(_ number: Int) {
            tell(number)
            next?.note(number)
        }
    }

    private let network = SimulatedNetwork()
    private let teller = Teller()
    private var loop: ManualLoop { network.loop }
    private var seen: [String] { teller.seen.withLock { $0 } }

    init() { network.exports.add(ProbeProxy(teller), named: nil) }

    private func complete<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
        try loop.complete(body)
    }

    // MARK: where it goes

    @Test func `a subject reads what its caller has set, and the calls after that have none`() throws {
        let proxy = ProbeProxy(network.client())
        _ = try complete {
            _ = try await withCallMetadata(["traceparent": "00-1-2-01", "b": "\"ü\"\n"]) { try await proxy.echo(1) }
            return try await proxy.echo(2)
        }
        #expect(seen == ["1 b=\"ü\"\n traceparent=00-1-2-01", "2"])
    }

    @Test func `of two values of one key the inner one holds`() throws {
        let proxy = ProbeProxy(network.client())
        _ = try complete {
            try await withCallMetadata(["a": "1", "b": "1"]) {
                _ = try await withCallMetadata(["b": "2", "c": "2"]) { try await proxy.echo(1) }
                return try await proxy.echo(2)
            }
        }
        #expect(seen == ["1 a=1 b=2 c=2", "2 a=1 b=1"])
    }

    @Test func `it travels on with the calls and posts of a subject, which can add to it`() throws {
        let gateway = SimulatedNetwork(loop: loop)
        let middle = Teller(next: ProbeProxy(network.client()))
        gateway.exports.add(ProbeProxy(middle), named: nil)
        let proxy = ProbeProxy(gateway.client())
        _ = try complete {
            try await withCallMetadata(["trace": "7"]) {
                _ = try await proxy.echo(1)
                _ = try await proxy.fail(2)
                proxy.note(3)
                return try await proxy.echo(4)
            }
        }
        loop.run()
        #expect(middle.seen.withLock { $0 } == ["1 trace=7", "2 trace=7", "3 trace=7", "4 trace=7"])
        #expect(seen == ["1 trace=7", "2 added=here trace=7", "3 trace=7", "4 trace=7"])
    }

    @Test func `of calls and posts that are read at once each has its own`() throws {
        let client = network.client()
        let calls = (1...60).map { number in
            Task(executorPreference: loop) {
                let proxy = ProbeProxy(client)
                guard number % 3 > 0 else { return try await proxy.echo(number) }
                return try await withCallMetadata(["n": "\(number / 6)"]) {
                    if number.isMultiple(of: 5) { proxy.note(1_000 + number) }
                    return try await proxy.echo(number)
                }
            }
        }
        for call in calls { _ = try complete { try await call.value } }
        let called = (1...60).map { $0 % 3 > 0 ? "\($0) n=\($0 / 6)" : "\($0)" }
        let posted = [5, 10, 20, 25, 35, 40, 50, 55].map { "\(1_000 + $0) n=\($0 / 6)" }
        #expect(seen.sorted() == (called + posted).sorted())
    }

    @Test func `it stays with calls and posts that wait for a connection, and with those that are sent again`() throws {
        network.isServing = false
        let proxy = ProbeProxy(network.client())
        let calls = (1...3).map { number in
            Task(executorPreference: loop) {
                try await withCallMetadata(["n": "\(number)"]) {
                    proxy.note(10 * number)
                    return try await proxy.echo(number)
                }
            }
        }
        loop.run()
        network.isServing = true
        loop.advance(by: .seconds(1))
        for call in calls { _ = try complete { try await call.value } }
        #expect(seen == ["10 n=1", "1 n=1", "20 n=2", "2 n=2", "30 n=3", "3 n=3"])
        // What is lost on its way is sent again.
        network.cut(.silence)
        let again = Task(executorPreference: loop) {
            try await withCallMetadata(["n": "4"]) {
                proxy.note(40)
                return try await proxy.echo(4)
            }
        }
        loop.run()
        #expect(seen.count == 6)
        network.giveUpSilentConnections()
        loop.advance(by: .seconds(1))
        #expect(try complete { try await again.value } == 4)
        #expect(seen.dropFirst(6) == ["40 n=4", "4 n=4"])
    }

    // MARK: secrets, and how far they go

    @Test func `what is for the next end only is not passed on, and what is secret stays secret`() throws {
        let (toGateway, toServer) = (Lock<[String]>([]), Lock<[String]>([]))
        func configuration(_ traces: Lock<[String]>) -> RPCClient.Configuration {
            var configuration = RPCClient.Configuration()
            configuration.tracesMessages = true
            configuration.log = { record in traces.withLock { $0.append(record.message) } }
            return configuration
        }
        let gateway = SimulatedNetwork(loop: loop)
        let middle = Teller(next: ProbeProxy(network.client(configuration(toServer))))
        gateway.exports.add(ProbeProxy(middle), named: nil)
        let proxy = ProbeProxy(gateway.client(configuration(toGateway)))
        _ = try complete {
            try await withCallMetadata([
                "authorization": .secret("Bearer S3CRET", reach: .nextEnd), "hop": MetadataValue("1", reach: .nextEnd),
                "key": .secret("K3Y", reach: .allEnds), "trace": "7",
            ]) {
                _ = try await proxy.echo(1)
                proxy.note(2)
                return try await proxy.fail(3)
            }
        }
        loop.run()
        let came = "authorization=Bearer S3CRET hop=1 key=K3Y trace=7"
        #expect(middle.seen.withLock { $0 } == ["1 \(came)", "2 \(came)", "3 \(came)"])
        #expect(seen == ["1 key=K3Y trace=7", "2 key=K3Y trace=7", "3 added=here key=K3Y trace=7"])
        for traces in [toGateway, toServer].map({ $0.withLock { $0 } }) {
            #expect(traces.contains { $0.contains(##""#key":"…""##) })
            #expect(!traces.contains { $0.contains("S3CRET") || $0.contains("K3Y") })
        }
        #expect("\(["a": MetadataValue.secret("S3CRET", reach: .nextEnd)])" == #"["a": …]"#)
    }

    @Test func `calls that differ only in what goes no further keep their own metadata`() throws {
        let client = network.client()
        let calls = (1...20).map { number in
            Task(executorPreference: loop) {
                try await withCallMetadata(["n": MetadataValue("\(number)", reach: .nextEnd)]) {
                    let proxy = ProbeProxy(client)
                    proxy.note(100 + number)
                    return try await proxy.echo(number)
                }
            }
        }
        for call in calls { _ = try complete { try await call.value } }
        #expect(seen.sorted() == (1...20).flatMap { ["\($0) n=\($0)", "\(100 + $0) n=\($0)"] }.sorted())
    }

    @Test func `a test's caller has it, and the calls inside have what goes on`() throws {
        let proxy = ProbeProxy(network.client())
        let its = try complete {
            try await withCallMetadata(["a": .secret("1", reach: .nextEnd), "b": "2"]) {
                try await withCaller(nil) {
                    _ = try await proxy.echo(1)
                    return Caller.current?.metadata
                }
            }
        }
        #expect(its == ["a": "1", "b": "2"] && seen == ["1 b=2"])
    }

    // MARK: layers

    @Test func `a policy sees it, also when it decides later, and layers pass it on`() throws {
        let policy = AccessPolicy.asking { request in
            await Task.yield()
            return request.caller?.metadata["tenant"] == "a" ? .allow : .deny("no tenant")
        }
        network.exports.add(ProbeProxy(teller).guarded(by: policy, clock: loop), named: "guarded")
        let proxy = ProbeProxy(network.client(), named: "guarded")
            .with(timeout: .seconds(5), clock: loop).locked().observed { _ in }
        _ = try complete {
            try await withCallMetadata(["tenant": "a"]) {
                proxy.note(1)
                return try await proxy.echo(2)
            }
        }
        loop.run()
        #expect(seen.sorted() == ["1 tenant=a", "2 tenant=a"])
        #expect(loop.failure { try await proxy.echo(3) }?.code == .denied)
    }

    // MARK: limits

    @Test func `more than may travel is refused before anything runs`() throws {
        let proxy = ProbeProxy(network.client())
        let sixteen = try Metadata(Dictionary(uniqueKeysWithValues: (0..<16).map { ("\($0)", MetadataValue("")) }))
        let full: Metadata = ["key": MetadataValue(String(repeating: "x", count: 4_093))]
        _ = try complete {
            _ = try await withCallMetadata(sixteen) { try await proxy.echo(1) }
            return try await withCallMetadata(full) { try await proxy.echo(2) }
        }
        #expect(seen.count == 2)
        for (first, second, limit) in [
            (sixteen, ["one": "more"], "16 keys in the metadata of a call (maximumMetadataEntries)"),
            (full, ["k": ""], "4096 bytes of keys and values in the metadata of a call (maximumMetadataBytes)"),
        ] as [(Metadata, Metadata, String)] {
            let error = loop.failure {
                try await withCallMetadata(first) { try await withCallMetadata(second) { try await proxy.echo(3) } }
            }
            #expect(error?.message.contains("more than \(limit)") == true)
            #expect(error?.code == .invalidRequest && error?.outcome == .notExecuted)
        }
        #expect(seen.count == 2)
    }

    @Test(arguments: ["#key", "-key", "clé"]) func `a key has no marks of its own, and is ASCII`(key: String) throws {
        let error = #expect(throws: RPCError.self) { try Metadata([key: ""]) }
        #expect(error?.code == .invalidArguments && error?.message.contains("a key of the metadata") == true)
        let proxy = ProbeProxy(network.client())
        let refusal = loop.failure { try await withCallMetadata([key: "1"]) { try await proxy.echo(1) } }
        #expect(refusal?.code == .invalidRequest && refusal?.outcome == .notExecuted && seen == [])
    }

    @Test func `more than a call may have is refused where it is made`() {
        let long = ["k": MetadataValue(String(repeating: "x", count: 4_096))]
        let error = #expect(throws: RPCError.self) { try Metadata(long) }
        #expect(error?.message.contains("maximumMetadataBytes") == true)
    }

    @Test func `typed errors come through`() async {
        struct Typed: Error {}
        func body() async throws(Typed) -> Int { throw Typed() }
        do throws(Typed) {
            _ = try await withCallTimeout(.seconds(1)) { () async throws(Typed) in
                try await withCallMetadata(["k": "v"], body)
            }
            Issue.record("nothing was thrown")
        } catch {}
    }

    @Test func `it counts for the longest message`() throws {
        var configuration = RPCClient.Configuration()
        configuration.maximumFrameSize = 4_000
        let proxy = ProbeProxy(network.client(configuration))
        let error = loop.failure {
            try await withCallMetadata(["k": MetadataValue(String(repeating: "x", count: 4_000))]) {
                try await proxy.echo(1)
            }
        }
        #expect(error?.code == .requestTooLarge && error?.outcome == .notExecuted)
        #expect(try complete { try await proxy.echo(2) } == 2)
    }
}
