// A client's way to a server without sockets, threads or real time: streams in memory on one manual loop, with a
// server at the other end that can go away and come back. What a test does to it, it does between two steps.

package import RPCWire
package import RemoteProxy

package final class SimulatedNetwork: Sendable {
    private struct State {
        var isServing = true
        var dials = 0
        var links: [Link] = []
        var faults = WireFaults()
    }

    private struct Link {
        let client: InMemoryStream
        let connection: Connection
    }

    package let loop: ManualLoop
    package let exports = Exports()
    private let runner: RequestRunner
    private let settings: Peer.Settings
    private let state = Lock(State())

    /// - Parameter loop: one that is shared with another network, for clients of both.
    package init(settings: Peer.Settings = Peer.Settings(), loop: ManualLoop = ManualLoop()) {
        self.loop = loop
        self.settings = settings
        runner = RequestRunner(loop: loop)
    }

    /// How a client reaches the server of this network.
    package var dialer: Dialer {
        Dialer(loop: loop) { [self] done in
            loop.submit { [self] in done(dial()) }
            return {}
        }
    }

    /// A client of this network whose waits are as long as they can be.
    package func client(_ configuration: RPCClient.Configuration = RPCClient.Configuration()) -> RPCClient {
        RPCClient(dialer, configuration, chance: { 1 })
    }

    /// Attempts to connect so far.
    package var dials: Int { state.withLock { $0.dials } }

    /// Whether the server takes connections.
    package var isServing: Bool {
        get { state.withLock { $0.isServing } }
        set { state.withLock { $0.isServing = newValue } }
    }

    /// What goes wrong on the way to and from the server, on present and future connections.
    package func inject(_ faults: WireFaults) {
        let links = state.withLock { state in
            state.faults = faults
            return state.links
        }
        for link in links { link.client.faults = faults }
    }

    /// Breaks every connection there is. One that has fallen silent is still there, and can be broken again.
    package func cut(_ how: WireFaults.Breakage = .reset) {
        let links = state.withLock { state in
            defer { if how != .silence { state.links = [] } }
            return state.links
        }
        for link in links { link.client.cut(how) }
    }

    /// The server stops in an orderly way: nobody new, running calls finish.
    package func drain() {
        let links = state.withLock { state in
            state.isServing = false
            return state.links
        }
        for link in links { link.connection.drain() }
    }

    /// Ends everything that lives on the loop, so that nothing of this network outlives it.
    package func shutDown() {
        cut()
        runner.stop()
        loop.advance(by: .seconds(5))
    }

    private func dial() -> Result<any ByteStream, DialError> {
        let number = state.withLock { state -> Int? in
            state.dials += 1
            return state.isServing ? state.dials : nil
        }
        guard let number else { return .failure(DialError("the server is away")) }
        let (client, server) = InMemoryStream.pair(on: loop)
        let peer = Peer(runner: runner, exports: exports, settings: settings)
        var events = Connection.Events()
        events.ended = { _, why in peer.close(.gone(why)) }
        let connection = Connection(server, number: number, peer: peer, role: .accepted, events: events)
        state.withLock { state in
            client.faults = state.faults
            state.links.append(Link(client: client, connection: connection))
        }
        loop.submit { connection.open() }
        return .success(client)
    }
}
