// A client's way to a server without sockets, threads or real time: channels in memory on one manual loop, with a
// server at the other end that can go away and come back. What a test does to it, it does between two steps.

import RPCSockets
package import RPCWire
package import RemoteProxy
package import Testing

package final class SimulatedNetwork: Sendable {
    private struct State {
        var isServing = true
        var dials = 0
        var links: [Way] = []
        var faults = WireFaults()
        var faultsOnce: (WireFaults, fromServer: Bool)?
        var sessions = SessionTable()
        var onHandOver: (@Sendable () -> Void)?
        var watched = WatchedObjects()
    }

    private struct Way {
        let number: Int
        let client: MemoryChannel
        var channel: any MessageChannel

        var server: MemoryChannel? { (channel as? FramedChannel)?.carrier as? MemoryChannel }
    }

    package let loop: ManualLoop
    package let exports = Exports()
    private let runner: RequestRunner
    private let settings: LinkSettings
    private let log: @Sendable (LogRecord) -> Void
    private let state = Lock(State())

    /// - Parameters:
    ///   - loop: one that is shared with another network, for clients of both.
    ///   - log: gets the messages of the server's log; `records` gets its records instead.
    package init(
        settings: LinkSettings = LinkSettings(), loop: ManualLoop = ManualLoop(), maximumSessions: Int = 10_000,
        log: @escaping @Sendable (String) -> Void = { _ in },
        records: (@Sendable (LogRecord) -> Void)? = nil
    ) {
        self.log = records ?? { log($0.message) }
        state.withLock { $0.sessions = SessionTable(limit: maximumSessions) }
        self.loop = loop
        self.settings = settings
        runner = RequestRunner(loop: loop, handoff: loop)
    }

    /// How a client reaches the server of this network.
    package var dialer: Dialer {
        Dialer(loop: loop, handoff: loop) { [self] done in
            loop.submit { [self] in done(dial()) }
            return {}
        }
    }

    /// A client of this network whose waits are as long as they can be.
    package func client(_ configuration: RPCClient.Configuration = RPCClient.Configuration()) -> RPCClient {
        let client = RPCClient(dialer, configuration, chance: { 1 })
        state.withLock { $0.watched.add(client, client.requester) }
        return client
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

    /// What goes wrong on the way from the server, on the connections there are.
    package func injectFromServer(_ faults: WireFaults) {
        for link in state.withLock({ $0.links }) {
            link.server?.faults = faults
        }
    }

    /// Holds back, or lets go, what is sent over one connection, in either direction, so that others overtake it.
    package func hold(_ isHeld: Bool, link: Int) {
        let link = state.withLock { $0.links.indices.contains(link) ? $0.links[link] : nil }
        guard let link else { return }
        link.client.faults.isHeld = isHeld
        link.server?.faults.isHeld = isHeld
    }

    /// What goes wrong on the way to the server, or from it, on the next connection and on no other.
    package func injectOnce(_ faults: WireFaults, fromServer: Bool) {
        state.withLock { $0.faultsOnce = (faults, fromServer) }
    }

    /// What happens as soon as the server knows the connection with which a client goes on with its session, and before that
    /// connection does anything.
    package func whenHandedOver(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onHandOver = action }
    }

    /// Breaks every connection there is. One that has fallen silent is still there, and can be broken again.
    package func cut(_ how: WireFaults.Breakage = .reset) {
        let links = state.withLock { state in
            defer { if how != .silence { state.links = [] } }
            return state.links
        }
        for link in links { link.client.cut(how) }
    }

    /// What the server keeps for clients that have lost their connection.
    package var sessions: SessionTable { state.withLock { $0.sessions } }
    /// How many answers the server keeps because no client has acknowledged them.
    package var keptReplies: Int { loop.pretend { sessions.all.reduce(0) { $0 + $1.half.replies.count } } }
    /// How many posts it keeps for the same reason.
    package var pendingPosts: Int { sessions.all.reduce(0) { $0 + $1.requester.pendingPosts } }

    /// The clients notice that a connection has fallen silent and give it up; the server has not noticed.
    package func giveUpSilentConnections() {
        for link in state.withLock({ $0.links }) { link.client.abort() }
    }

    /// The server gives up the connections it has; those that have fallen silent do not tell the clients.
    package func giveUpByServer() {
        for link in state.withLock({ $0.links }) { link.channel.abort() }
    }

    /// The server's process ends, and another one is there at once that knows nothing.
    package func restart() {
        closeSessions()
        cut()
    }

    private func closeSessions() {
        let old = state.withLock { state in
            defer { state.sessions = SessionTable() }
            return state.sessions
        }
        old.close()
    }

    /// The server stops in an orderly way: nobody new, running calls finish. The next one is another.
    package func drain() {
        closeSessions()
        let links = state.withLock { state in
            state.isServing = false
            return state.links
        }
        for link in links { link.channel.drain() }
    }

    /// Ends everything that lives on the loop, so that nothing of this network outlives it.
    package func shutDown() {
        closeSessions()
        cut()
        runner.stop()
        loop.advance(by: .seconds(5))
    }

    /// Expects that nothing is left of conversations whose clients are closed or let go, and whose test holds nothing of them:
    /// no timer, no session, and no client, connection or link, at either end.
    package func expectNothingLeft(sourceLocation: SourceLocation = #_sourceLocation) {
        // So long an end in memory waits for the other.
        loop.advance(by: .seconds(1))
        state.withLock { $0.links = [] }
        let left = state.withLock { $0.watched.left }
        #expect(left.isEmpty, sourceLocation: sourceLocation)
        #expect(sessions.count == 0, sourceLocation: sourceLocation)
        #expect(
            loop.timersLeft == 0, "the next is due at \(String(describing: loop.nextDeadline))",
            sourceLocation: sourceLocation)
    }

    private func dial() -> Result<any ByteChannel, SetupError> {
        let (number, sessions) = state.withLock { state -> (Int?, SessionTable) in
            state.dials += 1
            return (state.isServing ? state.dials : nil, state.sessions)
        }
        guard let number else { return .failure(SetupError("the server is away")) }
        let (client, server) = MemoryChannel.pair(on: loop)
        let context = LinkContext(
            runner: runner, exports: exports, settings: Shared(settings), sessions: sessions, log: log)
        let link = Link(context)
        let channel = FramedChannel(server, for: link)
        state.withLock { state in
            let once = state.faultsOnce.take()
            if once?.fromServer == true { server.faults = once?.0 ?? WireFaults() }
            client.faults = once?.fromServer == false ? once?.0 ?? state.faults : state.faults
            state.links.append(Way(number: number, client: client, channel: channel))
            state.watched.add(client, channel, link, link.requester)
        }
        loop.submit {
            link.open(channel, number: number) { [self] _, event in
                guard case .replaced(let successor) = event else { return }
                let action = state.withLock { state in
                    state.watched.add(successor)
                    if let place = state.links.firstIndex(where: { $0.number == number }) {
                        state.links[place].channel = successor
                    }
                    return state.onHandOver
                }
                action?()
            }
        }
        return .success(client)
    }

    /// A way to the server for those who write their bytes by hand.
    package func rawStream() throws -> any ByteChannel { try dial().get() }
}
