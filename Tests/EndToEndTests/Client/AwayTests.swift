// Clients that go away for a while and come back: apps in the background, laptops that sleep, connections that fall silent.

import Faults
import Protocols
import RPCServer
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Away for a while` {
    private func lastState(of client: RPCClient) async -> RPCClient.State? {
        await client.states.first { _ in true }
    }

    @Test func `connect finds that a connection passes nothing any more, and makes another one`() async throws {
        let watched = WatchedEcho()
        try await withServer(exporting: [EchoProxy(watched)]) { url in
            let proxy = try FaultProxy(to: url)
            var configuration = RPCClient.Configuration.eager
            // No pings, and half of this for the answer to a probe.
            configuration.keepalive = Keepalive(interval: .zero, timeout: .milliseconds(200))
            let client = RPCClient(proxy.url, configuration)
            var begins = watched.events.makeAsyncIterator()
            let call = Task { try await EchoProxy(client).later("held", afterMilliseconds: 0) }
            #expect(await begins.next() == .began)
            proxy.stall()
            // Those that come before the connection has been silent for long return at once.
            let connecting = Task { while proxy.counts.connections < 2 { try await client.connect() } }
            await until { proxy.counts.connections == 2 }
            proxy.resume()
            try await connecting.value
            #expect(await lastState(of: client) == .connected(resumed: true))
            watched.release()
            #expect(try await call.value == "held")
            #expect(watched.count == 1)
            client.close()
        }
    }

    @Test(arguments: [false, true], Medium.withTLS)
    func `a client that pauses gets its answer when it is back`(isPatient: Bool, over medium: Medium) async throws {
        let watched = WatchedEcho()
        var limits = RPCServer.Configuration.quiet
        limits.limits.sessionGrace = .zero
        try await withServer(over: medium, limits, exporting: [EchoProxy(watched)]) { url in
            var configuration = RPCClient.Configuration.eager
            if isPatient { configuration.sessionGrace = .seconds(600) }
            let client = RPCClient(url, configuration)
            var begins = watched.events.makeAsyncIterator()
            let call = Task { try await EchoProxy(client).later("held", afterMilliseconds: 0) }
            #expect(await begins.next() == .began)
            client.pause()
            _ = await client.states.first { $0 == .paused }
            if isPatient {
                watched.release()
            } else {
                // The server keeps no session for a client that has not asked for it.
                #expect(await begins.next() == .cancelled)
            }
            client.resume()
            try await client.connect()
            #expect(await lastState(of: client) == .connected(resumed: isPatient))
            if isPatient {
                #expect(try await call.value == "held")
            } else {
                let error = await #expect(throws: RPCError.self) { try await call.value }
                #expect(error?.code == .connectionLost && error?.outcome == .unknown)
            }
            #expect(watched.count == 1)
            client.close()
        }
    }

    @Test(arguments: Medium.withTLS)
    func `a server keeps a session no longer than its own limit`(over medium: Medium) async throws {
        var server = RPCServer.Configuration.quiet
        (server.limits.sessionGrace, server.limits.maximumSessionGrace) = (.zero, .zero)
        let watched = WatchedEcho()
        try await withServer(over: medium, server, exporting: [EchoProxy(watched)]) { url in
            var configuration = RPCClient.Configuration.eager
            configuration.sessionGrace = .seconds(600)
            let client = RPCClient(url, configuration)
            var begins = watched.events.makeAsyncIterator()
            let call = Task { try await EchoProxy(client).later("held", afterMilliseconds: 0) }
            #expect(await begins.next() == .began)
            client.pause()
            #expect(await begins.next() == .cancelled)
            let error = await #expect(throws: RPCError.self) { try await call.value }
            #expect(error?.code == .connectionLost && error?.outcome == .unknown)
            client.close()
        }
    }
}
