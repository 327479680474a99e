// Objects that are sent by reference: what both ends can do with them, and when they go away.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Objects by reference` {
    private let network = SimulatedNetwork()
    private let shop = CornerBookshop()
    private let clientObjects = Census()
    private let clients = Lock<[RPCClient]>([])

    init() { network.exports.add(BookshopProxy(shop), named: nil) }

    private func client() -> BookshopProxy {
        let client = network.client()
        clients.withLock { $0.append(client) }
        return BookshopProxy(client)
    }

    private func complete<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) throws -> Result { try network.loop.complete(body) }

    /// Lets both ends give back what they do not need any more.
    private func settle() { network.loop.advance(by: .milliseconds(200)) }

    /// The reader that the shop keeps, as the shop has it.
    private var keptReader: (any Reader)? { shop.kept.withLock { $0.first?.reader?.object } }

    /// How many objects each end has of the other, as both count.
    private var counts: [Int] {
        clients.withLock { $0 }.flatMap { client -> [Int] in
            guard let link = client.requester.link else { return [] }
            return [link.objects.takenCount, link.objects.givenCount]
        }
    }

    @Test func `are called like any other object`() throws {
        let shop = client()
        #expect(try complete { try await shop.open("Emma").volume.title() } == "Emma")
    }

    @Test func `are the same object each time, at both ends`() throws {
        let shop = client()
        let parcel = try complete {
            try await Parcel([shop.open("Emma").volume, shop.open("Emma").volume])
        }
        #expect(parcel.volumes[0].isSame(as: parcel.volumes[1]))
        #expect(try complete { try await shop.areSame(parcel) })
        let others = try complete { try await Parcel([shop.open("Emma").volume, shop.open("Kim").volume]) }
        #expect(!others.volumes[0].isSame(as: others.volumes[1]))
        #expect(try complete { try await !shop.areSame(others) })
    }

    @Test func `come back from their own end as themselves`() throws {
        let shop = client()
        let reader = KeenReader(clientObjects)
        let parcel = try complete { try await shop.echo(Parcel(for: reader)) }
        #expect(parcel.reader?.object as AnyObject === reader)
        let opened = try complete { try await shop.open("Emma") }
        let echoed = try complete { try await shop.echo(opened) }
        #expect(echoed.volumes[0].isSame(as: opened.volumes[0]))
    }

    @Test func `are called back inside the call that brought them`() throws {
        let shop = client()
        let reader = KeenReader(clientObjects)
        #expect(try complete { try await shop.ask(Parcel(for: reader), about: "Middlemarch") })
        #expect(try complete { try await !shop.ask(Parcel(for: reader), about: "Emma") })
        #expect(reader.titles.withLock { $0 } == ["Middlemarch", "Emma"])
    }

    @Test func `go away when the last proxy for them is gone`() throws {
        let shop = client()
        try complete {
            let parcel = try await shop.open("Emma")
            _ = try await shop.open("Emma")
            _ = try await parcel.volume.title()
        }
        #expect(self.shop.alive.value == 1)
        settle()
        #expect(self.shop.alive.value == 0)
        #expect(counts == [0, 0])
    }

    @Test func `are given back before the next call`() throws {
        let shop = client()
        try complete { _ = try await shop.open("Emma") }
        #expect(self.shop.alive.value == 1)
        try complete { try await shop.drop() }
        #expect(self.shop.alive.value == 0)
    }

    @Test func `stay for as long as the other end keeps them`() throws {
        let shop = client()
        try complete { [clientObjects] in try await shop.keep(Parcel(for: KeenReader(clientObjects))) }
        settle()
        #expect(clientObjects.value == 1)
        do {
            let kept = keptReader
            #expect(try complete { try await kept?.likes("Maurice") == true })
        }
        try complete { try await shop.drop() }
        settle()
        #expect(clientObjects.value == 0)
        #expect(counts == [0, 0])
    }

    @Test func `come with posts too`() throws {
        let shop = client()
        try complete { [clientObjects] in
            shop.note(Parcel(for: KeenReader(clientObjects)))
            _ = try await shop.open("Emma")
        }
        settle()
        #expect(clientObjects.value == 1)
        try complete { try await shop.drop() }
        settle()
        #expect(clientObjects.value == 0)
    }

    @Test func `go away when the call fails that was to bring them`() throws {
        let shop = client()
        #expect(throws: RPCError.self) {
            try complete { [clientObjects] in _ = try await shop.fail(Parcel(for: KeenReader(clientObjects))) }
        }
        settle()
        #expect(clientObjects.value == 0)
        #expect(counts == [0, 0])
    }

    /// Row C27 of "What became of my call".
    @Test func `end with their session`() throws {
        let shop = client()
        let parcel = try complete { try await shop.open("Emma") }
        try complete { [clientObjects] in try await shop.keep(Parcel(for: KeenReader(clientObjects))) }
        network.restart()
        settle()
        #expect(self.shop.alive.value == 0)
        let error = #expect(throws: RPCError.self) { try complete { try await parcel.volume.title() } }
        #expect(error?.code == .noSuchObject)
        #expect(error?.outcome == .notExecuted)
        // A new session began.
        _ = try complete { try await shop.open("Kim") }
        #expect(clientObjects.value == 0)
        let kept = keptReader
        let back = #expect(throws: RPCError.self) { try complete { _ = try await kept?.likes("Maurice") } }
        #expect(back?.code == .noSuchObject)
        let sent = #expect(throws: RPCError.self) { try complete { try await shop.keep(parcel) } }
        #expect(sent?.code == .noSuchObject)
        #expect(sent?.outcome == .notExecuted)
    }

    @Test func `outlive a connection`() throws {
        let shop = client()
        let parcel = try complete { try await shop.open("Emma") }
        try complete { [clientObjects] in try await shop.keep(Parcel(for: KeenReader(clientObjects))) }
        network.cut()
        #expect(try complete { try await parcel.volume.title() } == "Emma")
        settle()
        #expect(clientObjects.value == 1)
        try complete { try await shop.drop() }
        settle()
        #expect(clientObjects.value == 0)
    }

    @Test func `go away when their answer was lost and not kept`() throws {
        var settings = LinkSettings()
        settings.limits.maximumKeptReplyBytes = 0
        let network = SimulatedNetwork(settings: settings, loop: network.loop)
        network.exports.add(BookshopProxy(shop), named: nil)
        let client = network.client()
        clients.withLock { $0.append(client) }
        let shop = BookshopProxy(client)
        try complete { try await shop.drop() }
        // Then the answer is acknowledged, and the next call may begin.
        network.loop.advance(by: .seconds(2))
        var faults = WireFaults()
        faults.isHeld = true
        network.injectFromServer(faults)
        let call = Task(executorPreference: network.loop) { try await shop.open("Emma") }
        network.loop.advance(by: .milliseconds(10))
        #expect(self.shop.alive.value == 1)
        network.cut()
        network.loop.advance(by: .seconds(2))
        #expect(self.shop.alive.value == 0)
        call.cancel()
    }

    @Test func `work through the process in the middle, three deep`() throws {
        var settings = LinkSettings()
        settings.waitsForConnection = false
        var next: any Bookshop = shop
        var networks: [SimulatedNetwork] = []
        for _ in 0..<3 {
            let network = SimulatedNetwork(settings: settings, loop: network.loop)
            network.exports.add(BookshopProxy(next), named: nil)
            let client = network.client()
            clients.withLock { $0.append(client) }
            networks.append(network)
            next = BookshopProxy(client)
        }
        let far = next
        let reader = KeenReader(clientObjects)
        let parcel = try complete { try await far.open("Emma") }
        #expect(try complete { try await parcel.volume.title() } == "Emma")
        let both = try complete { try await Parcel([parcel.volume, far.open("Emma").volume]) }
        #expect(both.volumes[0].isSame(as: both.volumes[1]))
        #expect(try complete { try await far.areSame(both) })
        #expect(try complete { try await far.ask(Parcel(for: reader), about: "Maurice") })
        #expect(reader.titles.withLock { $0 } == ["Maurice"])
        networks.removeAll()
    }

    @Test func `that were passed weakly are kept once they are passed plainly`() throws {
        let shop = client()
        do {
            let reader = KeenReader(clientObjects)
            try complete { try await shop.keep(Parcel(for: ReaderProxy.weak(reader))) }
            try complete { try await shop.keep(Parcel(for: reader)) }
        }
        settle()
        #expect(clientObjects.value == 1)
        try complete { try await shop.drop() }
        settle()
        #expect(clientObjects.value == 0)
    }

    @Test func `are too many for one message above its limit, and then none is kept`() throws {
        let shop = client()
        let many = LinkSettings().limits.maximumReferencesInMessage
        do {
            let parcel = try complete { try await shop.open(all: (0..<many).map { "\($0)" }) }
            #expect(parcel.volumes.count == many)
        }
        let error = #expect(throws: RPCError.self) {
            try complete { _ = try await shop.open(all: (0...many).map { "\($0)" }) }
        }
        #expect(error?.code == .busy && error?.outcome == .executed)
        #expect(error?.message.contains("maximumReferencesInMessage") == true)
        settle()
        #expect(self.shop.alive.value == 0)
    }
}
