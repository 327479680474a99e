// The server's process: the sample services as rpc-server hosts them, those of single workloads, and a meter.

import Glibc
import RPCServer
import RemoteProxy
import SampleProtocols
import SampleSubjects

/// Hosts the services on a free port of the loopback address.
enum SampleServer {
    /// In place of a scenario: over TLS. The address that is printed has the pin of the key.
    static let sealed = "--tls"

    static func serve(for scenario: Scenario?, isSealed: Bool) async throws {
        var configuration = RPCServer.Configuration()
        if isSealed { configuration.tls = TLS(certificate: .selfSigned(in: "/tmp/rpc-bench-tls")) }
        configuration.limits.maximumConnections = 20_000
        configuration.limits.maximumReferences = 200_000
        configuration.log = { Program.complain("server: \($0)") }
        scenario?.configure(&configuration)
        let server = RPCServer(configuration)
        server.export(CalculatorProxy(CheckedCalculator()))
        server.export(EchoProxy(PlainEcho()))
        server.export(ArchiveProxy(EchoingArchive()))
        server.export(LetterBoxProxy(CountingLetterBox()))
        server.export(CorrespondentProxy(BusyCorrespondent()))
        server.export(StoreProxy(CountingStore()))
        server.export(MeterProxy(ProcessMeter()))
        server.export(FurnaceProxy(ServerFurnace(server)))
        print(try await server.listen(on: isSealed ? "tls://127.0.0.1:0" : "tcp://127.0.0.1:0"))
        fflush(nil)
        await server.waitUntilStopped()
    }
}
