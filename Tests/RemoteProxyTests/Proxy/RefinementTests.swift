// Services that refine services: one object and one proxy for the methods of all of them.

import Protocols
import RPCServer
import RPCSockets
import RemoteProxy
import TestSupport
import Testing

private enum ScrollFault: Error, Codable { case tooFar }

private protocol Marker: Sendable {}

@Service(errors: ScrollFault.self)
private protocol Scroller: Sendable {
    func scroll(to line: Int) async throws -> Int
    func looked(at line: Int) async
    func heard(_ text: String)
    @ReadOnly var line: Int { get async throws }
}

@Service
private protocol Zoomer: Sendable {
    func zoom(_ factor: Int) async throws -> Int
    func reset() async throws -> String
}

@Service
private protocol Table: Scroller, Zoomer {
    func select(_ row: Int) async throws -> String
    /// Declared by a base too.
    func reset() async throws -> String
}

@Service
private protocol Grid: Table, Marker, Counter {
    func cell(_ row: Int, _ column: Int) async throws -> Int
}

private final class PaperGrid: Grid {
    let said = Lock<[String]>([])

    func scroll(to line: Int) async throws -> Int {
        guard line < 100 else { throw ScrollFault.tooFar }
        return line
    }
    func looked(at line: Int) async { said.withLock { $0.append("looked at \(line)") } }
    func heard(_ text: String) { said.withLock { $0.append("heard \(text)") } }
    var line: Int { get async throws { said.withLock { $0.count } } }
    func zoom(_ factor: Int) async throws -> Int { factor * 2 }
    func reset() async throws -> String { "reset" }
    func select(_ row: Int) async throws -> String { "row \(row)" }
    func cell(_ row: Int, _ column: Int) async throws -> Int { row * 10 + column }
    func increment(by amount: Int) async throws -> Int { amount }
    func next() async throws -> Int { 1 }
    func value() async throws -> Int { 2 }
    func note(_ text: String) { said.withLock { $0.append("noted \(text)") } }
    func notes() async throws -> [String] { said.withLock { $0 } }
}

// Two bases whose methods have one name on the wire.
@Service private protocol Adder: Sendable { func add(_ a: Int) async throws -> Int }
@Service private protocol Joiner: Sendable { func add(_ a: Int, to b: Int) async throws -> Int }
@Service private protocol Both: Adder, Joiner {}

private struct Sums: Both {
    func add(_ a: Int) async throws -> Int { a }
    func add(_ a: Int, to b: Int) async throws -> Int { a + b }
}

// A method that differs from an inherited one in its label only, which is no part of its name on the wire.
@Service private protocol Mover: Sendable { func move(to line: Int) async throws -> Int }
@Service private protocol Slider: Mover { func move(by line: Int) async throws -> Int }

private struct Slide: Slider {
    func move(to line: Int) async throws -> Int { line }
    func move(by line: Int) async throws -> Int { -line }
}

@Suite(.waitsForOthers) struct `A service that refines others` {
    private func check(_ grid: GridProxy) async throws {
        #expect(try await grid.scroll(to: 7) == 7)
        await #expect(throws: ScrollFault.tooFar) { try await grid.scroll(to: 100) }
        #expect(try await grid.zoom(4) == 8)
        #expect(try await grid.select(3) == "row 3")
        #expect(try await grid.cell(1, 2) == 12)
        #expect(try await grid.reset() == "reset")
        #expect(try await grid.value() == 2)
        await grid.looked(at: 5)
        grid.heard("that")
        grid.note("this")
        #expect(try await grid.line == 3)
        #expect(try await grid.notes() == ["looked at 5", "heard that", "noted this"])
        let table: any Table = grid
        #expect(try await table.scroll(to: 9) == 9)
    }

    @Test func `has one proxy for all of them, around an object in this process`() async throws {
        try await check(GridProxy(PaperGrid()))
    }

    @Test func `has one proxy for all of them, around an object elsewhere`() async throws {
        let server = RPCServer()
        server.export(GridProxy(PaperGrid()))
        let client = RPCClient(try await server.listen(on: "tcp://127.0.0.1:0"))
        try await check(GridProxy(client))
        client.close()
        await server.stop()
    }

    @Test func `lists the methods of all of them under its own name, each once`() {
        #expect(
            Set(GridProxy._methodTable.signatures.map(\.wireName)) == [
                "Grid.cell", "Grid.select", "Grid.reset", "Grid.scroll", "Grid.looked", "Grid.heard", "Grid.line",
                "Grid.zoom", "Grid.increment", "Grid.next", "Grid.value", "Grid.note", "Grid.notes",
            ])
        #expect(GridProxy._methodTable.signatures.count == 13)
        #expect(GridProxy._methodTable.signatures.first { $0.name == "line" }?.effect == .readOnly)
    }

    @Test func `answers for inherited methods in guards, caches and supports`() async throws {
        let object = PaperGrid()
        let line = GridProxy.MethodName.inherited(ScrollerProxy.MethodName.line)
        let grid = GridProxy(object)
        #expect(try await grid.supports(line))
        let guarded = grid.guarded(by: .nobody, methods: [.inherited(ZoomerProxy.MethodName.zoom)])
        let error = await #expect(throws: RPCError.self) { try await guarded.zoom(1) }
        #expect(error?.code == .denied && error?.message.contains("Grid.zoom") == true)
        #expect(try await guarded.scroll(to: 1) == 1)
        let judged = grid.guarded(
            by: .arguments(of: ScrollerProxy.Methods.scroll) { _, line in
                line < 5 ? .allow : .deny("too far")
            })
        #expect(try await judged.scroll(to: 4) == 4)
        await #expect(throws: RPCError.self) { try await judged.scroll(to: 5) }
        // Also a method of a base that the service declares itself.
        let table = TableProxy(object).guarded(
            by: .arguments(of: ZoomerProxy.Methods.reset) { _, _ in .deny("not now") })
        let denial = await #expect(throws: RPCError.self) { try await table.reset() }
        #expect(denial?.code == .denied)

        let cache = Cache.memory
        let cached = grid.cached(in: cache)
        #expect(try await cached.line == 0)
        object.heard("directly")
        #expect(try await cached.line == 0)
        try cache.invalidate(ScrollerProxy.Methods.line)
        #expect(try await cached.line == 1)
    }

    @Test func `never runs another method of the same name for an inherited one`() async throws {
        let slide = SliderProxy(Slide())
        #expect(try await slide.move(by: 2) == -2)
        let refusal = await #expect(throws: RPCError.self) { try await slide.move(to: 2) }
        #expect(refusal?.code == .noSuchMethod && refusal?.outcome == .notExecuted)
    }

    @Test func `is not exported if two inherited methods have one name on the wire`() async throws {
        let server = RPCServer()
        let both = BothProxy(Sums())
        server.export(both)
        let error = await #expect(throws: (any Error).self) { try await server.listen(on: "tcp://127.0.0.1:0") }
        #expect(
            error.map { "\($0)".contains("several of its methods, inherited or its own, are named add on the wire") }
                == true)
        let refusal = await #expect(throws: RPCError.self) { try await both.add(1) }
        #expect(refusal?.code == .noSuchMethod && refusal?.outcome == .notExecuted)
    }
}
