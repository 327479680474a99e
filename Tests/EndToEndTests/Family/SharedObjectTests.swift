// An object that is counted and locked, shared by clients over real connections.

import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Service
protocol Notepad: Sendable {
    func write(_ line: String) async throws
    @ReadOnly func lines() async throws -> [String]
}

@Service
protocol Desk: Sendable {
    func notepad() async throws -> any Notepad
}

private struct OfficeDesk: Desk {
    let pad: NotepadProxy
    func notepad() async throws -> any Notepad { pad }
}

private final class PaperNotepad: Notepad {
    private let text = Lock<[String]>([])
    func write(_ line: String) async throws { text.withLock { $0.append(line) } }
    func lines() async throws -> [String] { text.withLock { $0 } }
}

@Suite(.waitsForOthers) struct `An object shared by clients` {
    @Test(arguments: Medium.allCases)
    func `appears with the first, is one's alone for a while, and disappears after the last`(over medium: Medium)
        async throws
    {
        let (gone, went) = AsyncStream.makeStream(of: Void.self)
        let made = Lock(0)
        let server = RPCServer()
        let pad = NotepadProxy.counted {
            made.withLock { $0 += 1 }
            return PaperNotepad()
        } whenLast: { _ in
            went.yield()
        }
        server.export(DeskProxy(OfficeDesk(pad: pad.locked(.readersTogether))))
        let url = try await server.reached(over: medium)
        let clients = (RPCClient(url, .patient), RPCClient(url, .patient))
        let one = NotepadProxy(try await DeskProxy(clients.0).notepad())
        let two = NotepadProxy(try await DeskProxy(clients.1).notepad())

        try await two.write("two")
        let waiting = try await one.exclusively {
            try await one.write("one")
            let waiting = Task { try await two.write("two again") }
            for _ in 0..<50 { _ = try await one.lines() }
            try await one.write("one again")
            return waiting
        }
        try await waiting.value
        #expect(try await one.lines() == ["two", "one", "one again", "two again"])
        #expect(made.withLock { $0 } == 1)

        clients.0.close()
        #expect(try await two.lines().count == 4)
        clients.1.close()
        for await _ in gone { break }
        let three = try await DeskProxy(RPCClient(url, .patient)).notepad()
        #expect(try await three.lines() == [])
        #expect(made.withLock { $0 } == 2)
        await server.stop()
    }

    @Test(arguments: Medium.allCases)
    func `is free when the one that holds it goes away in the middle`(over medium: Medium) async throws {
        let server = RPCServer()
        server.export(NotepadProxy(PaperNotepad()).locked())
        let url = try await server.reached(over: medium)
        let clients = (RPCClient(url, .patient), RPCClient(url, .patient))
        let (one, two) = (NotepadProxy(clients.0), NotepadProxy(clients.1))
        try await one.exclusively {
            try await one.write("one")
            let waiting = Task { try await two.write("two") }
            clients.0.close()
            try await waiting.value
            let error = await #expect(throws: RPCError.self) { try await one.write("gone") }
            #expect(error?.outcome == .notExecuted)
        }
        #expect(try await two.lines() == ["one", "two"])
        clients.1.close()
        await server.stop()
    }
}
