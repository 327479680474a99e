// A server for the fault runs: the ledger, and an object on the main actor, behind the command line that every server has. Its file, and the server that
// it passes calls on to, come from the environment.

import Faults
import Foundation
import RPCServer
import RemoteProxy

@main
struct LedgerServerProgram {
    static func main() throws {
        let environment = ProcessInfo.processInfo.environment
        let next = try environment["LEDGER_NEXT"].map { LedgerProxy(RPCClient(try Endpoint($0))) }
        ServerCommand { context in
            context.server.export(BoardProxy(WallBoard()))
            context.server.export(
                LedgerProxy(try RecordingLedger(environment["LEDGER_FILE"] ?? "/dev/null", next: next)))
        }.main()
    }
}
