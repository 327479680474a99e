// The code of the article on transports. `.ci/transports` runs what it has of other languages.

import Protocols
import RPCServer
import RPCSockets
import RemoteProxy
import Subjects
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `The article on transports` {
    private static let hasTLS = {
        let folder = TemporaryFolder()
        return (try? OwnCertificate.files(in: folder.path)) != nil
    }()

    /// A server that answers with the name and the roles of its caller.
    private static func server(_ configuration: RPCServer.Configuration) -> RPCServer {
        let server = RPCServer(configuration)
        server.export(GreeterProxy(NamingGreeter()))
        return server
    }

    @Test(.enabled(if: hasTLS)) func `a client and a server show each other certificates`() async throws {
        let folder = TemporaryFolder()
        let files = try OwnCertificate.files(in: folder.path)
        // A certificate that has signed itself is also the authority of it.
        let (chain, key, authority) = (files.chain, files.key, files.chain)
        func serverConfiguration() throws -> RPCServer.Configuration {
            var configuration = RPCServer.Configuration.quiet
            configuration.tls = TLS(certificate: .files(chain, key), clients: .signedBy(authority))
            configuration.tokens = try TokenList(parsing: "ann  teller  cert:localhost")
            return configuration
        }
        var configuration = RPCClient.Configuration.patient
        configuration.tls.trust = .file(authority)
        configuration.tls.certificate = .files(chain, key)
        let server = Self.server(try serverConfiguration())
        let client = RPCClient(try await server.listen(on: "tls://127.0.0.1:0"), configuration)
        #expect(try await GreeterProxy(client).greet("") == "ann teller")
        client.close()
        await server.stop()
    }

    @Test func `a client starts its server`() async throws {
        let program = try ChildProcess.built("rpc-server")
        let client = RPCClient(.process(program, ["--stdio"]))
        #expect(try await CalculatorProxy(client).add(2, 3) == 5)
        client.close()
    }

    @Test func `a client over ssh is made without a connection`() {
        let clients = [
            RPCClient(.process("ssh", ["-o", "BatchMode=yes", "build7", "rpc-server", "--stdio"])),
            RPCClient(
                .process("ssh", ["-o", "BatchMode=yes", "build7", "rpc-server", "attach", "unix:///run/rpc.sock"])),
        ]
        for client in clients { client.close() }
    }

    @Test func `a client in process has the identity that the program gives it`() async throws {
        let server = Self.server(.quiet)
        let ann = RPCClient(.inProcess(server, as: Identity(name: "ann", roles: ["teller"])))
        #expect(try await GreeterProxy(ann).greet("") == "ann teller")
        ann.close()
    }
}

private struct NamingGreeter: Greeter {
    func greet(_ name: String) async throws -> String {
        let identity = Caller.current?.identity
        return "\(identity?.name ?? "-") \(identity?.roles.sorted().joined(separator: ",") ?? "-")"
    }
}
