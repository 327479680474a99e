// The table "What becomes of an object after the call" of the article on handing objects around, row by row.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `An object after the call that brought it` {
    private let network: SimulatedNetwork
    private let shop = CornerBookshop()
    private let census = Census()
    private let client: RPCClient
    private let remote: BookshopProxy
    private var loop: ManualLoop { network.loop }

    init() {
        var settings = LinkSettings()
        settings.limits.maximumRequestsInFlight = 1
        network = SimulatedNetwork(settings: settings)
        network.exports.add(BookshopProxy(shop).locked(clock: network.loop), named: nil)
        client = network.client()
        remote = BookshopProxy(client)
    }

    /// The reader that the shop keeps, as the shop has it.
    private var kept: any Reader { get throws { try #require(shop.kept.withLock { $0.first?.reader?.object }) } }

    private func likes(_ title: String) throws -> Bool {
        let kept = try kept
        return try loop.complete { try await kept.likes(title) }
    }

    private func title(of parcel: Parcel) throws -> String { try loop.complete { try await parcel.volume.title() } }

    /// The server runs one call at a time, and the shop lets one in at a time.
    @Test func `takes no place among the running calls, and none in a lock`() throws {
        let parcel = try loop.complete { [remote, census] in
            try await remote.keep(Parcel(for: KeenReader(census)))
            return try await remote.open("Emma")
        }
        #expect(try likes("Maurice"))
        #expect(try title(of: parcel) == "Emma")
        #expect(client.referenceCounts.takenCount == 1 && client.referenceCounts.given == ["Reader": 1])
    }

    @Test func `is not concerned by a cancellation of the call`() throws {
        let call = Task(executorPreference: loop) { [remote, census] in
            try await remote.keep(Parcel(for: KeenReader(census)))
            return try await remote.open("Emma")
        }
        loop.run()
        call.cancel()
        let parcel = try loop.complete { try await call.value }
        #expect(try likes("Maurice"))
        #expect(try title(of: parcel) == "Emma")
    }

    @Test func `has neither the deadline nor the metadata of the call`() throws {
        let heard = Lock<[String: String]?>(nil)
        let parcel = try loop.complete { [remote] in
            try await withCallMetadata(["traceparent": "one"]) {
                try await withCallTimeout(.milliseconds(10)) {
                    try await remote.keep(Parcel(for: AttentiveReader(heard: heard)))
                    return try await remote.open("Emma")
                }
            }
        }
        loop.advance(by: .seconds(5))
        #expect(try likes("Maurice"))
        #expect(heard.withLock { $0 } == [:])
        #expect(try title(of: parcel) == "Emma")
    }

    @Test func `keeps its own layers, and gets none of those of the subject`() throws {
        let asked = Lock(0)
        let policy = AccessPolicy { request in
            asked.withLock { $0 += 1 }
            return request.method.name == "likes" ? .deny("not here") : .allow
        }
        let guarded = ReaderProxy(KeenReader(census)).guarded(by: policy)
        try loop.complete { [remote] in try await remote.keep(Parcel(for: guarded)) }
        #expect(asked.withLock { $0 } == 0)
        let kept = try kept
        #expect(loop.failure { try await kept.likes("Maurice") }?.code == .denied)
        #expect(asked.withLock { $0 } == 1)
    }

    @Test(arguments: [false, true])
    func `is called like an export when its end is away: at once or later, as was asked for`(waits: Bool) throws {
        var settings = LinkSettings()
        settings.waitsForConnection = waits
        let network = SimulatedNetwork(settings: settings, loop: loop)
        network.exports.add(BookshopProxy(shop), named: nil)
        let away = BookshopProxy(network.client())
        try loop.complete { [census] in try await away.keep(Parcel(for: KeenReader(census))) }
        let kept = try kept
        network.isServing = false
        network.cut()
        loop.run()
        let call = Task(executorPreference: loop) { await failure { try await kept.likes("Maurice") } }
        loop.advance(by: .milliseconds(100))
        network.isServing = true
        loop.advance(by: .seconds(5))
        let error = try loop.complete { await call.value }
        #expect(error?.code == (waits ? nil : .unavailable))
        #expect(error?.outcome == (waits ? nil : .notExecuted))
        #expect(try likes("Maurice"), "its session goes on")
    }

    @Test func `counts against the limit when its call is sent, and not while that waits`() throws {
        var configuration = RPCClient.Configuration()
        configuration.maximumReferences = 2
        let client = network.client(configuration)
        let remote = BookshopProxy(client)
        network.isServing = false
        for _ in 0..<3 { remote.note(Parcel(for: KeenReader(census))) }
        loop.advance(by: .milliseconds(10))
        network.isServing = true
        loop.advance(by: .seconds(5))
        #expect(client.referenceCounts.given == ["Reader": 3])
        let error = loop.failure { [census] in try await remote.keep(Parcel(for: KeenReader(census))) }
        #expect(error?.code == .busy && error?.outcome == .notExecuted)
        #expect(census.value == 3)
    }

    @Test func `is let go of with a server that stops`() throws {
        let parcel = try loop.complete { [remote, census] in
            try await remote.keep(Parcel(for: KeenReader(census)))
            return try await remote.open("Emma")
        }
        network.shutDown()
        loop.advance(by: .seconds(120))
        #expect(client.referenceCounts.isEmpty && census.value == 0)
        #expect(loop.failure { try await parcel.volume.title() }?.code == .noSuchObject)
    }
}

/// Notes the metadata of the call that asks it.
private struct AttentiveReader: Reader {
    let heard: Lock<[String: String]?>

    func opened(_ title: String) {}
    func likes(_ title: String) async throws -> Bool {
        heard.withLock { $0 = Caller.current?.metadata }
        return true
    }
}
