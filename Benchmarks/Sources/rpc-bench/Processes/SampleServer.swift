// The server's process: the sample services as rpc-server hosts them, those of single workloads, and a meter.

import Glibc
import RPCServer
import RemoteProxy
import SampleProtocols
import SampleSubjects

/// Hosts the services on a free port of the loopback address.
enum SampleServer {
    static func serve(for scenario: Scenario?) async throws {
        var configuration = RPCServer.Configuration()
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
        print(try await server.listen(on: "tcp://127.0.0.1:0"))
        fflush(nil)
        await server.waitUntilStopped()
    }
}
