// What other systems with objects by reference have got wrong once: each is a test here, unless another suite has it.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Objects by reference, where others have failed` {
    private let network = SimulatedNetwork()
    private let shop = CornerBookshop()
    private let client: RPCClient
    private let remote: BookshopProxy

    init() {
        network.exports.add(BookshopProxy(shop), named: nil)
        client = network.client()
        remote = BookshopProxy(client)
    }

    /// Whether neither end has an object of the other, when both have given back what they do not need any more, and have reported
    /// which posts have come.
    private var isAtRest: Bool {
        network.loop.advance(by: .seconds(2))
        return client.referenceCounts.isEmpty && shop.alive.value == 0
    }

    @Test func `one that is sent twice is there for the second proxy when the first is gone`() throws {
        try network.loop.complete { [remote, loop = network.loop] in
            let first = try await remote.open("Emma")
            let second = try await remote.open("Emma")
            _ = consume first
            try await loop.sleep(for: .milliseconds(200))
            #expect(try await second.volume.title() == "Emma")
        }
        #expect(isAtRest)
    }

    @Test func `those of a message that cannot be written to its end are kept by nobody`() throws {
        let mine = Census()
        let error = network.loop.failure { [remote] in
            try await remote.keep(Parcel((0...1_000).map { PrintedVolume("\($0)", mine) }))
        }
        #expect(error?.code == .busy && error?.outcome == .notExecuted)
        #expect(mine.value == 0)
        let answer = network.loop.failure { [remote] in try await remote.open(all: (0...1_000).map { "\($0)" }) }
        #expect(answer?.code == .busy && answer?.outcome == .executed)
        #expect(isAtRest)
        let title = try network.loop.complete { [remote] in try await remote.open("Emma").volume.title() }
        #expect(title == "Emma")
        #expect(isAtRest)
    }

    /// One step of the loop later each time: before the call is sent, while it runs, and while its answer is on its way.
    @Test func `those of an answer that nobody waits for are given back, whenever the caller left`() throws {
        for steps in 0..<40 {
            let call = Task(executorPreference: network.loop) { [remote] in try await remote.open("Emma") }
            for _ in 0..<steps { network.loop.step() }
            call.cancel()
            network.loop.run()
            #expect(isAtRest || steps > 0, "after \(steps) steps")
        }
        #expect(isAtRest)
    }

    @Test func `those that a call brings go away when nobody runs it`() throws {
        let mine = Census()
        let nowhere = BookshopProxy(client, named: "nowhere")
        let error = network.loop.failure { try await nowhere.keep(Parcel(for: KeenReader(mine))) }
        #expect(error?.code == .noSuchObject)
        nowhere.note(Parcel(for: KeenReader(mine)))
        #expect(isAtRest)
        #expect(mine.value == 0)
    }
}
