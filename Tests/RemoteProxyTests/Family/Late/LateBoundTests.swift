// Proxies that are there before their object.

import RPCWire
import RemoteProxy
import TestSupport
import Testing

@MainActor @Service
private protocol Board: Sendable {
    func write(_ number: Int)
    func count() async throws -> Int
}

@MainActor
private final class RealBoard: Board {
    private(set) var written: [Int] = []
    /// What is written when one is not.
    var further: (any Board)?

    func write(_ number: Int) {
        written.append(number)
        further?.write(number + 100)
    }

    func count() async throws -> Int { written.count }
}

@Suite(.waitsForOthers) struct `Late-bound proxies` {
    private let loop = ManualLoop()
    private var unbound: (proxy: ProbeProxy, binding: LateBinding<ProbeProxy>) {
        ProbeProxy.unbound(maximumKeptPosts: 3, on: loop, executor: loop)
    }

    @Test func `calls wait until the proxy is bound`() throws {
        let (proxy, binding) = unbound
        let probe = RecordingProbe(loop)
        let call = StartedCall(on: loop) { try await proxy.echo(1) }
        loop.advance(by: .seconds(10))
        #expect(!call.isOver)
        try binding.bind(to: probe)
        loop.run()
        #expect(call.value == 1)
        #expect(try loop.complete { try await proxy.echo(2) } == 2)
    }

    @Test func `calls wait no longer than their deadline, or the timeout`() throws {
        let (proxy, binding) = unbound
        let hasty = StartedCall(on: loop, within: .seconds(1)) { try await proxy.echo(1) }
        let patient = StartedCall(on: loop) { try await proxy.echo(2) }
        loop.advance(by: .seconds(1))
        #expect(hasty.rpcError?.code == .deadlineExceeded)
        #expect(hasty.rpcError?.outcome == .notExecuted)
        loop.advance(by: .seconds(28))
        #expect(!patient.isOver)
        loop.advance(by: .seconds(1))
        #expect(patient.rpcError?.code == .deadlineExceeded)
        #expect(patient.rpcError?.message.contains("bind(to:)") == true)
        let probe = RecordingProbe(loop)
        try binding.bind(to: probe)
        loop.run()
        #expect(probe.executed.isEmpty)
    }

    @Test func `a caller that is cancelled waits no more`() throws {
        let proxy = unbound.proxy
        let call = StartedCall(on: loop) { try await proxy.echo(1) }
        loop.run()
        call.cancel()
        loop.run()
        #expect(call.error is CancellationError)
    }

    @Test func `posts are kept in order up to the limit, and calls do not overtake them`() throws {
        let (proxy, binding) = unbound
        let probe = RecordingProbe(loop)
        for number in 1...5 { proxy.note(number) }
        #expect(proxy.refusedPosts == 2)
        try binding.bind(to: probe)
        proxy.note(6)
        let notedBefore = StartedCall(on: loop) {
            _ = try await proxy.echo(7)
            return probe.noted.count
        }
        #expect(probe.noted.isEmpty)
        loop.run()
        #expect(probe.noted == [1, 2, 3, 6])
        #expect(notedBefore.value == 4)
        proxy.note(8)
        #expect(probe.noted == [1, 2, 3, 6, 8])
    }

    @Test func `an object once bound stays`() throws {
        let (proxy, binding) = unbound
        let probe = RecordingProbe(loop)
        try binding.bind(to: probe)
        let error = #expect(throws: BindingError.self) { try binding.bind(to: RecordingProbe(loop)) }
        #expect(error?.description.contains("bound already") == true)
        proxy.note(1)
        #expect(probe.noted == [1])
    }

    @Test func `a proxy cannot be bound to itself`() {
        let (proxy, binding) = unbound
        let error = #expect(throws: BindingError.self) { try binding.bind(to: proxy) }
        #expect(error?.description.contains("itself") == true)
    }

    @MainActor @Test func `posts stay synchronous on the main actor, and kept ones come in their order`() async throws {
        let board = RealBoard()
        let (early, earlyBinding) = BoardProxy.unbound()
        try earlyBinding.bind(to: board)
        early.write(1)
        #expect(board.written == [1])

        let (late, lateBinding) = BoardProxy.unbound()
        late.write(2)
        try lateBinding.bind(to: board)
        late.write(3)
        #expect(board.written == [1])
        while board.written.count < 3, !Task.isCancelled { await Task.yield() }
        #expect(board.written == [1, 2, 3])
    }

    @MainActor @Test func `a call finds what was posted before it, also on another actor`() async throws {
        for _ in 0..<20 {
            let board = RealBoard()
            // However long the machine is busy with other tests.
            let (proxy, binding) = BoardProxy.unbound(timeout: .seconds(600))
            for number in 0..<10 { proxy.write(number) }
            let count = Task { try await proxy.count() }
            await Task.yield()
            try binding.bind(to: board)
            #expect(try await count.value == 10)
        }
    }

    @MainActor @Test func `objects that need each other go when nobody else needs them`() throws {
        weak var presenter: RealBoard?
        weak var view: RealBoard?
        do {
            let (viewProxy, binding) = BoardProxy.unbound()
            let newPresenter = RealBoard()
            newPresenter.further = viewProxy
            let newView = RealBoard()
            newView.further = nil
            try binding.bind(to: BoardProxy.weak(newView))
            newPresenter.write(1)
            #expect(newView.written == [101])
            presenter = newPresenter
            view = newView
            withExtendedLifetime((newPresenter, newView)) {}
        }
        #expect(presenter == nil)
        #expect(view == nil)
    }

    @Test func `exported before it is bound, and bound to an object elsewhere`() throws {
        let network = SimulatedNetwork()
        let upstream = SimulatedNetwork()
        let probe = RecordingProbe(upstream.loop)
        upstream.exports.add(ProbeProxy(probe), named: nil)
        let (exported, binding) = ProbeProxy.unbound(on: network.loop, executor: network.loop)
        network.exports.add(exported, named: nil)
        let client = network.client()
        let proxy = ProbeProxy(client)
        proxy.note(1)
        let call = StartedCall(on: network.loop) { try await proxy.echo(2) }
        network.loop.advance(by: .seconds(1))
        #expect(!call.isOver)
        let upstreamClient = upstream.client()
        try binding.bind(to: ProbeProxy(upstreamClient))
        for _ in 0..<10 {
            network.loop.run()
            upstream.loop.run()
        }
        network.loop.run()
        #expect(call.value == 2)
        #expect(probe.noted == [1])
        client.close()
        upstreamClient.close()
        network.shutDown()
        upstream.shutDown()
    }
}
