// Clients and servers that speak TLS, with certificates that the tests make.

import Foundation
import Protocols
import RPCSockets
import RPCWire
import RemoteProxy
import Subjects
import TestSupport
import Testing

@testable import RPCServer

@Suite(.waitsForOthers, .enabled(if: Machine.hasTLS)) struct TLSTests {
    /// A server with a certificate of its own.
    private struct Party {
        let folder = TemporaryFolder()
        let server: RPCServer
        let log = Log()

        init(
            clock: any Loop = EventLoop.shared, _ change: (inout RPCServer.Configuration) -> Void = { _ in }
        ) {
            var configuration = RPCServer.Configuration()
            configuration.tls = TLS(certificate: .selfSigned(in: folder.path))
            configuration.log = log.note
            change(&configuration)
            server = RPCServer(configuration, clock: clock) { $0 }
            server.export(GreeterProxy(EnglishGreeter()))
        }

        func client(
            _ endpoint: Endpoint, _ change: (inout RPCClient.Configuration) -> Void = { _ in }
        ) -> RPCClient {
            var configuration = RPCClient.Configuration.patient
            configuration.tls.trust = .file("\(folder.path)/certificate.pem")
            configuration.log = { _ in }
            change(&configuration)
            return RPCClient(endpoint, configuration)
        }
    }

    private final class Log: Sendable {
        private let lines = Lock<[String]>([])
        func note(_ record: LogRecord) { lines.withLock { $0.append(record.description) } }
        func has(_ text: String) -> Bool { count(of: text) > 0 }
        func count(of text: String) -> Int { lines.withLock { $0.count { $0.contains(text) } } }
    }

    private static func greet(_ client: RPCClient) async throws -> String {
        try await GreeterProxy(client).greet("Ann")
    }

    /// What `connect` throws.
    private static func refusal(of client: RPCClient) async throws -> RPCError {
        try #require(await #expect(throws: RPCError.self) { try await client.connect() })
    }

    @Test func `the address of a certificate of its own is enough for a client`() async throws {
        let party = Party()
        let endpoint = try await party.server.listen(on: "tls://127.0.0.1:0")
        #expect(endpoint.description.contains("?pin=sha256:"))
        // As it stands, with no trust in what the system does not know.
        let client = RPCClient(endpoint)
        #expect(try await Self.greet(client) == "Hello, Ann!")
        let counters = party.server.counters
        #expect(counters.tlsHandshakes == 1 && counters.tlsFailures == 0)
        #expect((3_600...3_650).contains(counters.certificateDaysLeft ?? 0))
        await client.close(grace: .seconds(10))
        await party.server.stop()
    }

    @Test(arguments: ["localhost", "127.0.0.1", "[::1]"])
    func `a name or address in the certificate is right`(host: String) async throws {
        let party = Party()
        let endpoint: Endpoint
        do { endpoint = try await party.server.listen(on: try Endpoint("tls://\(host):0")) } catch { return }
        let port = try #require(endpoint.description.split(separator: "?")[0].split(separator: ":").last)
        let client = party.client(try Endpoint("tls://\(host):\(port)"))
        #expect(try await Self.greet(client) == "Hello, Ann!")
        await party.server.stop()
    }

    /// Row C29 of "What became of my call".
    @Test(arguments: [
        ("127.0.0.2", "IP address mismatch"), ("127.0.0.1", "self-signed certificate"),
        ("127.0.0.1", "its key has the pin sha256:"),
    ])
    func `a server that is not trusted gets no call, and the client says why at once`(
        host: String, reason: String
    ) async throws {
        let party = Party()
        let endpoint = try await party.server.listen(on: try Endpoint("tls://\(host):0"))
        let address = try #require(endpoint.description.split(separator: "?").first)
        let client = party.client(try Endpoint(String(address))) { configuration in
            if reason.hasPrefix("self") { configuration.tls.trust = .system }
            if reason.hasPrefix("its") {
                configuration.tls.trust = .pin("sha256:" + String(repeating: "00", count: 32))
            }
        }
        let refusal = try await Self.refusal(of: client)
        #expect(refusal.code == .unavailable && refusal.outcome == .notExecuted)
        #expect(refusal.message.contains("the certificate of the peer is not trusted: \(reason)"), "\(refusal)")
        // A call does not wait for its deadline.
        let error = await #expect(throws: RPCError.self) { try await Self.greet(client) }
        #expect(error?.message.contains(reason) == true)
        await until { party.server.counters.tlsFailures > 0 || party.server.counters.tlsHandshakes > 0 }
        #expect(party.server.counters.requestsBegun == 0)
        await party.server.stop()
    }

    @Test func `a client without TLS is told so at once where TLS is required, and served where it is optional`()
        async throws
    {
        let party = Party()
        let required = try await party.server.listen(on: "tls://127.0.0.1:0")
        let optional = try await party.server.listen(on: "tcp://127.0.0.1:0")
        #expect(optional.description.hasPrefix("tcp://"))
        let address = try #require(required.description.split(separator: "?").first)
        let stranger = RPCClient(try Endpoint(String(address).replacing("tls:", with: "tcp:")), .patient)
        let refusal = try await Self.refusal(of: stranger)
        #expect(refusal.message.contains("this port takes only TLS"), "\(refusal)")
        await until { party.log.has("the peer does not speak TLS") }
        #expect(party.server.counters.tlsFailures > 0)
        let neighbour = RPCClient(optional, .patient)
        #expect(try await Self.greet(neighbour) == "Hello, Ann!")
        // The same port takes TLS as well.
        let both = party.client(try Endpoint(optional.description.replacing("tcp:", with: "tls:")))
        #expect(try await Self.greet(both) == "Hello, Ann!")
        await party.server.stop()
    }

    /// Row C29 of "What became of my call".
    @Test func `a client with TLS is told at once that a server speaks none`() async throws {
        let server = RPCServer()
        server.export(GreeterProxy(EnglishGreeter()))
        let endpoint = try await server.listen(on: "tcp://127.0.0.1:0")
        let client = RPCClient(try Endpoint(endpoint.description.replacing("tcp:", with: "tls:")), .patient)
        let refusal = try await Self.refusal(of: client)
        #expect(refusal.message.contains("TLS: "), "\(refusal)")
        #expect(server.counters.requestsBegun == 0)
        await server.stop()
    }

    @Test func `a later connection of a client goes on with its session`() async throws {
        let party = Party()
        let endpoint = try await party.server.listen(on: "tls://127.0.0.1:0")
        let client = party.client(endpoint)
        #expect(try await Self.greet(client) == "Hello, Ann!")
        client.pause()
        await until { party.server.counters.connectionsOpen == 0 }
        client.resume()
        #expect(try await Self.greet(client) == "Hello, Ann!")
        #expect(party.server.counters.tlsHandshakes == 2 && party.server.counters.tlsResumptions == 1)
        await party.server.stop()
    }

    @Test func `handshakes count among the bytes of all peers, and beyond those none is begun`() async throws {
        let party = Party { $0.limits.maximumBytesInAll = 40_000 }
        let endpoint = try await party.server.listen(on: "tls://127.0.0.1:0")
        // The first byte of a handshake, and no more.
        let socket = try endpoint.destination().socket()
        let silent = try await withCheckedThrowingContinuation { continuation in
            Connector.connect(to: socket, on: .shared, timeout: .seconds(60)) { continuation.resume(with: $0) }
        }
        silent.write { queue, _ in queue.append(0x16) }
        silent.flush(.now)
        await until { party.server.counters.bytesKept >= 40_000 }
        let client = party.client(endpoint)
        #expect(try await Self.refusal(of: client).code == .unavailable)
        await until { party.log.has("there is no room for another handshake (half of maximumBytesInAll)") }
        #expect(party.server.counters.overruns["maximumBytesInAll"] == 1)
        silent.abort()
        // The client goes on by itself.
        #expect(try await Self.greet(client) == "Hello, Ann!")
        await until { party.server.counters.bytesKept < 40_000 }
        await party.server.stop()
    }

    // MARK: certificates of clients

    @Test func `a certificate names its owner, and a line gives it roles`() async throws {
        let folder = TemporaryFolder()
        _ = try OwnCertificate.files(in: folder.path)
        let host = ProcessEnvironment.hostName ?? "localhost"
        for list in [nil, "ann teller cert:localhost", "bob teller cert:elsewhere", "ann clerk 0123456789abcdef0"] {
            let callers = Lock<[Identity?]>([])
            let party = Party { configuration in
                configuration.tls?.clients = .signedBy("\(folder.path)/certificate.pem")
                configuration.tokens = list.flatMap { try? TokenList(parsing: $0) }
            }
            party.server.export(GreeterProxy(Watched { callers.withLock { $0.append(Caller.current?.identity) } }))
            let endpoint = try await party.server.listen(on: "tls://127.0.0.1:0")
            let client = party.client(endpoint) { $0.tls.certificate = .selfSigned(in: folder.path) }
            switch list {
            case nil:
                _ = try await Self.greet(client)
                #expect(callers.withLock { $0 } == [Identity(name: "cert:localhost")], "\(host)")
            case .some(let list) where list.hasPrefix("ann teller"):
                _ = try await Self.greet(client)
                #expect(callers.withLock { $0 } == [Identity(name: "ann", roles: ["teller"])])
                // Without its line the caller is let in no more.
                party.server.reload(tokens: try TokenList(parsing: "bob teller cert:elsewhere"))
                // Until the client knows that its connection has ended, it counts as connected.
                _ = await client.states.first { if case .connected = $0 { false } else { true } }
                #expect(try await Self.refusal(of: client).code == .unauthenticated)
            default:
                #expect(try await Self.refusal(of: client).code == .unauthenticated)
                #expect(callers.withLock { $0.isEmpty })
            }
            client.close()
            await party.server.stop()
        }
    }

    @Test func `the name in a certificate is no token`() async throws {
        let party = Party { $0.tokens = try? TokenList(parsing: "ann teller cert:0123456789abcdef0") }
        let endpoint = try await party.server.listen(on: "tls://127.0.0.1:0")
        for text in ["cert:0123456789abcdef0", "0123456789abcdef0"] {
            let client = party.client(endpoint) { $0.token = Token(text) }
            #expect(try await Self.refusal(of: client).code == .unauthenticated)
            client.close()
        }
        await party.server.stop()
    }

    /// Row C30 of "What became of my call".
    @Test func `a client whose certificate is missing or unknown is told so at once`() async throws {
        let (known, unknown) = (TemporaryFolder(), TemporaryFolder())
        _ = try OwnCertificate.files(in: known.path)
        let party = Party { $0.tls?.clients = .signedBy("\(known.path)/certificate.pem") }
        let endpoint = try await party.server.listen(on: "tls://127.0.0.1:0")
        for (folder, text) in [(nil, "certificate required"), (unknown.path, "unknown ca")] {
            let client = party.client(endpoint) { $0.tls.certificate = folder.map { .selfSigned(in: $0) } }
            let refusal = try await Self.refusal(of: client)
            #expect(refusal.code == .unauthenticated && refusal.outcome == .notExecuted)
            #expect(refusal.message.contains("wants another certificate of this end"), "\(refusal)")
            #expect(refusal.message.contains(text), "\(refusal)")
            client.close()
        }
        #expect(party.server.counters.requestsBegun == 0)
        await party.server.stop()
    }

    // MARK: listening

    @Test(arguments: [
        (Endpoint("tls://127.0.0.1:0"), false, "needs a certificate"),
        ("tcp://0.0.0.0:0", true, "nothing keeps strangers out: give it tokens"),
        ("tls://127.0.0.1:0?pin=sha256:00", true, "has a pin that is none"),
        (
            "tls://127.0.0.1:0?pin=sha256:0000000000000000000000000000000000000000000000000000000000000000", true,
            "only a client needs"
        ),
    ])
    func `an address that TLS does not fit is refused with the reason`(
        endpoint: Endpoint, hasCertificate: Bool, reason: String
    ) async throws {
        let party = Party { if !hasCertificate { $0.tls = nil } }
        let error = await #expect(throws: RPCServer.ListenError.self) { try await party.server.listen(on: endpoint) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
        await party.server.stop()
    }

    @Test(arguments: [true, false])
    func `beyond loopback TLS with tokens is enough, and tokens without TLS are not`(hasTLS: Bool) async throws {
        let party = Party { configuration in
            configuration.tokens = try? TokenList(parsing: "ann teller 0123456789abcdef0")
            if !hasTLS { configuration.tls = nil }
        }
        if hasTLS {
            let endpoint = try await party.server.listen(on: "tcp://0.0.0.0:0")
            #expect(endpoint.description.hasPrefix("tls://0.0.0.0:"), "clients without TLS are refused there")
        } else {
            let error = await #expect(throws: RPCServer.ListenError.self) {
                try await party.server.listen(on: "tcp://0.0.0.0:0")
            }
            #expect(error?.description.contains("others can read and change the calls") == true)
        }
        await party.server.stop()
    }

    @Test func `a certificate that cannot be used is named when the server listens`() async throws {
        let folder = TemporaryFolder()
        for (certificate, reason) in [
            (TLSCertificate.files("\(folder.path)/none.pem", "\(folder.path)/none.key"), "cannot be opened"),
            (.selfSigned(in: "/dev/null/there"), "no certificate could be made in /dev/null/there"),
        ] {
            let party = Party { $0.tls = TLS(certificate: certificate) }
            let error = await #expect(throws: RPCServer.ListenError.self) {
                try await party.server.listen(on: "tls://127.0.0.1:0")
            }
            #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
            await party.server.stop()
        }
    }

    @Test func `files that have changed are read again, and bad ones are not taken`() async throws {
        let (other, party) = (TemporaryFolder(), Party())
        let endpoint = try await party.server.listen(on: "tls://127.0.0.1:0")
        let first = RPCClient(endpoint)
        #expect(try await Self.greet(first) == "Hello, Ann!")
        let files = try OwnCertificate.files(in: party.folder.path)
        // A key without its certificate.
        let new = try OwnCertificate.files(in: other.path)
        try Machine.copy(new.key, to: files.key)
        party.server.reloadCertificate()
        #expect(party.log.has("kept the certificate as it was"))
        let second = RPCClient(endpoint)
        #expect(try await Self.greet(second) == "Hello, Ann!")
        try Machine.copy(new.chain, to: files.chain)
        party.server.reloadCertificate()
        #expect(party.log.has("read the certificate again"))
        // The old connection stays; a new one finds another key.
        #expect(try await Self.greet(first) == "Hello, Ann!")
        let third = RPCClient(endpoint) { $0.log = { _ in } }
        #expect(try await Self.refusal(of: third).message.contains("its key has the pin"))
        await party.server.stop()
    }

    // MARK: the look at the files, once a minute

    /// A server whose minutes pass when the test says so, and another certificate for it.
    private struct Watching {
        let clock = ManualLoop()
        let party: Party
        /// With the pin of the certificate that the server has at first.
        let endpoint: Endpoint
        let files: CertificateFiles
        let others: CertificateFiles
        private let folder = TemporaryFolder()

        init() async throws {
            party = Party(clock: clock)
            endpoint = try await party.server.listen(on: "tls://127.0.0.1:0")
            files = try OwnCertificate.files(in: party.folder.path)
            others = try OwnCertificate.files(in: folder.path)
        }

        /// Looks at what a new connection meets.
        func expect(isOther: Bool) async throws {
            if isOther {
                let refused = RPCClient(endpoint) { $0.log = { _ in } }
                #expect(try await TLSTests.refusal(of: refused).message.contains("its key has the pin"))
            }
            let address = try #require(endpoint.description.split(separator: "?").first)
            let trusted = isOther ? party.client(try Endpoint(String(address))) : RPCClient(endpoint)
            #expect(try await TLSTests.greet(trusted) == "Hello, Ann!")
            trusted.close()
        }
    }

    @Test func `new files are taken up at the next look`() async throws {
        let watching = try await Watching()
        let (party, clock) = (watching.party, watching.clock)
        clock.advance(by: .seconds(600))
        #expect(party.log.count(of: "certificate") == 0)
        try Machine.copy(watching.others.key, to: watching.files.key)
        try Machine.copy(watching.others.chain, to: watching.files.chain)
        clock.advance(by: .milliseconds(59_999))
        try await watching.expect(isOther: false)
        clock.advance(by: .milliseconds(1))
        #expect(party.log.count(of: "read the certificate again") == 1)
        try await watching.expect(isOther: true)
        clock.advance(by: .seconds(600))
        #expect(party.log.count(of: "certificate") == 1)
        await party.server.stop()
        #expect(clock.timersLeft == 0)
    }

    @Test func `a server that was stopped does not look at files, although it is to listen again`() async throws {
        let clock = ManualLoop()
        let party = Party(clock: clock)
        await party.server.stop()
        await #expect(throws: RPCError.self) { try await party.server.listen(on: "tls://127.0.0.1:0") }
        #expect(clock.timersLeft == 0)
    }

    @Test func `a server that stops while it looks does not look again`() throws {
        let (folder, clock) = (TemporaryFolder(), ManualLoop())
        let watch = Lock<ServerTLS?>(nil)
        let settings = TLS(certificate: .selfSigned(in: folder.path))
        let traffic = Traffic(loops: 1, maximumRequests: 1)
        let made = try ServerTLS(settings, patience: .seconds(1), traffic: traffic, clock: clock) { _ in
            watch.withLock { $0 }?.stop()
        }
        watch.withLock { $0 = made }
        try ReplaceableFile(OwnCertificate.files(in: folder.path).key).replace(with: Array("none".utf8))
        clock.advance(by: .seconds(60))
        #expect(clock.timersLeft == 0)
        watch.withLock { $0 = nil }
    }

    @Test func `bad files are told of once, and taken up when they are mended`() async throws {
        let watching = try await Watching()
        let (party, clock) = (watching.party, watching.clock)
        let (key, chain) = (watching.files.key, watching.files.chain)
        let faults: [() throws -> Void] = [
            // A key without its certificate, a certificate that is none, what cannot be read, and what others can read.
            { try Machine.copy(watching.others.key, to: key) },
            { try ReplaceableFile(chain).replace(with: Array("none".utf8)) },
            {
                try FileManager.default.removeItem(atPath: key)
                try FileManager.default.createDirectory(atPath: key, withIntermediateDirectories: false)
            },
            {
                try FileManager.default.removeItem(atPath: key)
                try Machine.copy(watching.others.key, to: key)
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
                try Machine.copy(watching.others.chain, to: chain)
            },
        ]
        for (fault, count) in zip(faults, 1...) {
            try fault()
            for _ in 1...10 {
                clock.advance(by: .seconds(60))
                #expect(party.log.count(of: "kept the certificate as it was") == count)
                try await watching.expect(isOther: false)
            }
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        clock.advance(by: .seconds(60))
        #expect(party.log.count(of: "read the certificate again") == 1)
        try await watching.expect(isOther: true)
        clock.advance(by: .seconds(600))
        #expect(party.log.count(of: "certificate") == faults.count + 1)
        // Files that are put back are told of too, and then the same fault is news again.
        for count in 1...2 {
            try FileManager.default.removeItem(atPath: key)
            clock.advance(by: .seconds(60))
            #expect(party.log.count(of: "kept the certificate as it was") == faults.count + count)
            try Machine.copy(watching.others.key, to: key)
            clock.advance(by: .seconds(60))
            #expect(party.log.count(of: "read the certificate again") == 1 + count)
        }
        await party.server.stop()
    }
}

/// Tells when it is called.
private struct Watched: Greeter {
    let called: @Sendable () -> Void

    func greet(_ name: String) async throws -> String {
        called()
        return name
    }
}

private enum Machine {
    static let hasTLS = (try? TLSContext(.pin(pin), nil)) != nil
    private static var pin: KeyPin {
        get throws { try #require(KeyPin("sha256:" + String(repeating: "0", count: 64))) }
    }

    static func copy(_ path: String, to other: String) throws {
        let bytes = try #require(try ReplaceableFile(path).read(atMost: 1 << 20))
        try ReplaceableFile(other).replace(with: bytes)
    }
}
