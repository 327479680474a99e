// Which sessions make room for others.

import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Session table` {
    private let loop = ManualLoop()
    private let table = SessionTable(limit: 1)

    private func link(_ table: SessionTable? = nil) -> Link {
        Link(LinkContext(runner: RequestRunner(loop: loop), exports: Exports(), sessions: table ?? self.table))
    }

    @Test func `a session makes room for another while its client is away`() {
        let old = link()
        #expect(table.add(old))
        #expect(!table.add(link()))
        table.left(old)
        #expect(table.add(link()))
        #expect(table.claim(old.id, by: nil) == nil)
    }

    @Test func `the oldest of the same owner goes first, and then the oldest of all`() {
        let table = SessionTable(limit: 4)
        func link(of name: String?) -> Link {
            let link = self.link(table)
            link.identity = name.map { Identity(name: $0) }
            return link
        }
        var names: [String: String] = [:]
        for (name, owner) in [("a", "alice"), ("n", nil), ("b", "bob"), ("bb", "bob")] {
            let link = link(of: owner)
            names[link.id] = name
            #expect(table.add(link))
            table.left(link)
        }
        var order: [String] = []
        for _ in 0..<4 {
            // Those that are new have their clients.
            #expect(table.add(link(of: "bob")))
            let left = names.filter { id, _ in table.link(named: id) == nil }
            for (id, name) in left {
                names[id] = nil
                order.append(name)
            }
        }
        #expect(order == ["b", "bb", "a", "n"])
        #expect(!table.add(link(of: "bob")))
    }

    @Test func `one whose client has come back is passed over`() {
        let table = SessionTable(limit: 2)
        let links = [link(table), link(table)]
        for link in links {
            #expect(table.add(link))
            table.left(link)
        }
        #expect(table.claim(links[0].id, by: nil) === links[0])
        table.left(links[0])
        #expect(table.add(link(table)))
        #expect(table.link(named: links[0].id) != nil && table.link(named: links[1].id) == nil)
    }

    @Test func `nobody finds a session by guessing`() {
        let table = SessionTable()
        let links = (0..<100).map { _ in link(table) }
        for link in links { #expect(table.add(link)) }
        var random = SystemRandomNumberGenerator()
        var digits = [UInt8](repeating: 0, count: 32)
        var found = 0
        // As many as a thief could try in a minute or so.
        for _ in 0..<1_000_000 {
            let halves = (random.next() as UInt64, random.next() as UInt64)
            for place in 0..<16 {
                digits[place] = Self.digit(halves.0 >> (4 * UInt64(place)))
                digits[16 + place] = Self.digit(halves.1 >> (4 * UInt64(place)))
            }
            if table.claim(String(decoding: digits, as: UTF8.self), by: nil) != nil { found += 1 }
        }
        #expect(found == 0)
        #expect(Set(links.map(\.id)).count == 100 && links.allSatisfy { $0.id.utf8.count == 32 })
        for link in links { #expect(table.claim(link.id, by: nil) === link) }
    }

    private static func digit(_ value: UInt64) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value) & 15
        return value < 10 ? 48 + value : 87 + value
    }

    @Test func `one that is served again stays, though the loss of its former connection is noticed late`() {
        let served = link()
        #expect(table.add(served))
        #expect(table.claim(served.id, by: nil) === served)
        table.left(served)
        table.claimed(served)
        #expect(!table.add(link()))
        #expect(table.claim(served.id, by: nil) === served)
    }
}
