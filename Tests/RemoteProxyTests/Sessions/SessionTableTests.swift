// Which sessions make room for others.

import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Session table` {
    private let loop = ManualLoop()
    private let table = SessionTable(limit: 1)

    private func session() -> Session {
        Session(Peer(runner: RequestRunner(loop: loop), exports: Exports()), in: table)
    }

    @Test func `a session makes room for another while its client is away`() {
        let old = session()
        #expect(table.add(old))
        #expect(!table.add(session()))
        table.left(old)
        #expect(table.add(session()))
        #expect(table.claim(old.id, by: nil) == nil)
    }

    @Test func `one that is served again stays, though the loss of its former connection is noticed late`() {
        let served = session()
        #expect(table.add(served))
        #expect(table.claim(served.id, by: nil) === served)
        table.left(served)
        table.claimed(served)
        #expect(!table.add(session()))
        #expect(table.claim(served.id, by: nil) === served)
    }
}
