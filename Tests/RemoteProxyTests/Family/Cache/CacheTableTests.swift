// The parts of the cache by themselves: what has to go, what equal arguments are, when a file is written.

import JSONCodec
import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

private func policy(entries: Int, bytes: Int = 1 << 20) -> CachePolicy {
    var policy = CachePolicy(freshFor: .seconds(1_000))
    policy.maximumEntries = entries
    policy.maximumBytes = bytes
    return policy
}

private func record(_ number: Int, size: Int = 1, written: Int64, used: Int64? = nil) -> CacheRecord {
    CacheRecord(
        name: "\(number)", json: String(repeating: "1", count: size), written: written, used: used ?? written)
}

@Suite struct `Cache table` {
    private func key(_ number: Int) -> CacheKey {
        (try? CacheKey(number, (), .none)) ?? { fatalError("no arguments are equal to none") }()
    }

    private func result(_ number: Int) -> any CachedResult {
        KnownResult(number, for: key(number), (), .none, .codable)
    }

    private func isThere(_ number: Int, in table: CacheTable) -> Bool {
        table[key(number).place]?.key == key(number)
    }

    @Test func `a table is never above its limit, and what was stored last is in it`() {
        var chance = SeededGenerator(seed: 7)
        for _ in 0..<50 {
            let entries = Int.random(in: 1...20, using: &chance)
            var table = CacheTable(policy(entries: entries))
            for time in 0..<200 {
                let number = Int.random(in: 0..<40, using: &chance)
                let old = record(number, written: Int64(number))
                table.store(result(number), from: Bool.random(using: &chance) ? old : nil, at: Int64(time))
                #expect(isThere(number, in: table))
                #expect(table.count <= entries)
            }
        }
    }

    @Test func `those stay that were used last, and times that run out do no harm`() {
        var table = CacheTable(policy(entries: 3))
        for number in 1...3 { table.store(result(number), at: 1) }
        _ = table.find(at: key(1).place, 1)
        table.store(result(4), at: 1)
        #expect([1, 2, 3, 4].map { isThere($0, in: table) } == [true, false, true, true])
        for number in 5...7 { table.store(result(number), at: .max) }
        #expect(table.count == 3)
    }

    @Test func `a later record of another process takes the place of a result, and so does none at all`() {
        for (written, stays) in [(Int64(50), true), (100, true), (150, false), (nil, false)] {
            var (table, records) = (CacheTable(policy(entries: 10)), CacheRecords(policy(entries: 10)))
            let own = result(1)
            table.store(own, at: 100)
            table.store(result(2), at: 100)
            #expect(table.makeRecord(of: own, as: "1", "1")?.written == 100)
            #expect(table.makeRecord(of: result(1), as: "1", "1") == nil, "it is not the one that is here")
            #expect(table.unnamed.count == 1 && table.uses.map(\.name) == ["1"])
            if let written { records.merge([record(1, written: written)], at: 200) }
            table.follow(records)
            #expect(isThere(1, in: table) == stays)
            #expect(isThere(2, in: table), "it has no record yet")
        }
    }
}

@Suite struct `Cache records` {
    @Test func `are never above their limits, and those stay that were used last`() {
        var chance = SeededGenerator(seed: 8)
        for _ in 0..<50 {
            let (entries, bytes) = (Int.random(in: 1...20, using: &chance), Int.random(in: 20...400, using: &chance))
            var records = CacheRecords(policy(entries: entries, bytes: bytes))
            for time in 0..<200 {
                let next = record(
                    Int.random(in: 0..<40, using: &chance), size: Int.random(in: 1...60, using: &chance),
                    written: Int64(time))
                records.merge([next], at: Int64(time))
                #expect((records[next.name]?.written == Int64(time)) == (next.size <= bytes))
                #expect(records.all.count <= entries)
                #expect(records.bytes <= bytes)
                #expect(records.bytes == records.all.reduce(0) { $0 + $1.size })
            }
        }
    }

    @Test func `of two with one name the later one stays, and none from the future is later`() {
        var records = CacheRecords(policy(entries: 10))
        for (written, at, expected) in [
            (Int64(100), Int64(100), Int64(100)), (50, 200, 100), (150, 200, 150), (9_999, 200, 150),
        ] {
            records.merge([record(1, written: written, used: .max)], at: at)
            #expect(records["1"]?.written == expected)
        }
        records.merge([record(2, written: .max, used: .max)], at: .max)
        #expect(records.all.count == 2)
    }
}

@Suite struct `Canonical JSON` {
    private func canonical(_ text: String) throws -> String {
        try Bytes(text).withUnsafeBytes { try CanonicalJSON.text(of: $0) }
    }

    @Test(arguments: [
        (#"[1,"a",null,true,-0.5e3]"#, #"[1,"a",null,true,-0.5e3]"#),
        (#"[{"b":1,"a":[{"d":{},"c":[]}]}]"#, #"[{"a":[{"c":[],"d":{}}],"b":1}]"#),
        (#"{"\u0062":"{}","a":2}"#, #"{"a":2,"b":"{}"}"#),
        (#"[{},{}]"#, #"[{},{}]"#),
    ])
    func `members come in the order of their names, all else stays`(_ text: String, _ expected: String) throws {
        #expect(try canonical(text) == expected)
        #expect(try canonical(expected) == expected)
    }
}

@Suite struct `Saving a cache` {
    private let loop = ManualLoop()
    private let writes = Lock<[Bool]>([])
    private let saver: CacheSaver

    init() { saver = CacheSaver(pause: .seconds(1), .manual(loop)) }

    private func write(isGood: Bool = true) -> Bool {
        writes.withLock { $0.append(isGood) }
        return isGood
    }

    private func changed(isGood: Bool = true) {
        saver.changed { write(isGood: isGood) }
        loop.run()
    }

    private func save(isGood: Bool = true) throws -> Bool {
        try loop.complete { await saver.save { write(isGood: isGood) } }
    }

    private var count: Int { writes.withLock { $0.count } }

    @Test func `one write at a time, none without a change, and a pause after each`() throws {
        changed()
        #expect(count == 1)
        changed()
        changed()
        loop.advance(by: .milliseconds(999))
        #expect(count == 1)
        loop.advance(by: .milliseconds(1))
        #expect(count == 2)
        loop.advance(by: .seconds(5))
        #expect(try save())
        #expect(count == 2)
        changed()
        #expect(count == 3)
    }

    @Test func `a write that failed is tried again with the next change, or when a caller wants it`() throws {
        changed(isGood: false)
        loop.advance(by: .seconds(5))
        #expect(count == 1)
        #expect(try !save(isGood: false))
        #expect(count == 2)
        loop.advance(by: .seconds(5))
        changed()
        #expect(count == 3)
        #expect(try save())
        #expect(count == 3)
    }

    @Test func `a caller that waits for the file does not wait for the pause`() throws {
        changed()
        changed()
        #expect(count == 1)
        #expect(try save())
        #expect(count == 2)
        #expect(loop.now == Instant(nanoseconds: 0))
    }
}
