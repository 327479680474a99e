// A server for the fault runs: the ledger, a depot of objects by reference, and an object on the main actor, behind the command line
// that every server has. Its file, and the server that it passes calls on to, come from the environment.

import Faults
import Foundation
import RPCServer
import RemoteProxy

@main
struct LedgerServerProgram {
    static func main() throws {
        let environment = ProcessInfo.processInfo.environment
        let client = try environment["LEDGER_NEXT"].map { RPCClient(try Endpoint($0)) }
        let next = client.map { LedgerProxy($0) }
        ServerCommand { context in
            context.server.export(BoardProxy(WallBoard()))
            context.server.export(DepotProxy(CountingDepot(next: client.map { DepotProxy($0) })))
            context.server.export(
                LedgerProxy(try RecordingLedger(environment["LEDGER_FILE"] ?? "/dev/null", next: next)))
        }.main()
    }
}
