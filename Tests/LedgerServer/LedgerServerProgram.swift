// A server for the fault runs: the ledger behind the command line that every server has. Its file, and the server that
// it passes calls on to, come from the environment.

import Faults
import Foundation
import RPCServer
import RemoteProxy

@main
struct LedgerServerProgram {
    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        let next = environment["LEDGER_NEXT"].map { LedgerProxy(RPCClient($0)) }
        try await ServerCommand { server in
            server.export(LedgerProxy(try RecordingLedger(environment["LEDGER_FILE"] ?? "/dev/null", next: next)))
        }.run()
    }
}
