// The pure parts of the cache: what has to go, what equal arguments are, when a file is written.

import JSONCodec
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Cache table` {
    private func limits(entries: Int, bytes: Int = 1 << 20) -> CacheLimits {
        var policy = CachePolicy(freshFor: .seconds(1_000))
        policy.maximumEntries = entries
        policy.maximumBytes = bytes
        return CacheLimits(policy)
    }

    private func key(_ number: Int) -> CacheRecord.Key {
        CacheRecord.Key(service: "S", method: "m", arguments: "[\(number)]")
    }

    private func record(_ number: Int, size: Int = 1, written: Int64, used: Int64? = nil) -> CacheRecord {
        CacheRecord(
            key: key(number), json: Bytes(String(repeating: "1", count: size)), written: written, used: used ?? written)
    }

    private func result(_ number: Int) -> any CachedResult { KnownResult(number, of: number, NoArguments()) }

    private func isThere(_ number: Int, in table: CacheTable) -> Bool {
        table[CacheKey(method: number, arguments: NoArguments())] != nil
    }

    @Test func `a table is never above its limit, and what was stored last is in it`() {
        var chance = SeededGenerator(seed: 7)
        for _ in 0..<50 {
            let entries = Int.random(in: 1...20, using: &chance)
            var table = CacheTable(limits(entries: entries))
            for time in 0..<200 {
                let number = Int.random(in: 0..<40, using: &chance)
                if Bool.random(using: &chance) {
                    table.merge([record(number, written: Int64(time))], at: Int64(time))
                } else {
                    table.store(result(number), at: Int64(time))
                    #expect(isThere(number, in: table))
                }
                #expect(table.count <= entries)
            }
        }
    }

    @Test func `records are never above their limits, and those stay that were used last`() {
        var chance = SeededGenerator(seed: 8)
        for _ in 0..<50 {
            let (entries, bytes) = (Int.random(in: 1...20, using: &chance), Int.random(in: 20...400, using: &chance))
            var records = CacheRecords(limits(entries: entries, bytes: bytes))
            for time in 0..<200 {
                let next = record(
                    Int.random(in: 0..<40, using: &chance), size: Int.random(in: 1...60, using: &chance),
                    written: Int64(time))
                records.merge([next], at: Int64(time))
                #expect((records[next.key]?.written == Int64(time)) == (next.size <= bytes))
                #expect(records.count <= entries)
                #expect(records.bytes <= bytes)
                #expect(records.bytes == records.all.reduce(0) { $0 + $1.size })
            }
        }
    }

    @Test func `of two records for one key the later one stays, and none from the future is later`() {
        var records = CacheRecords(limits(entries: 10))
        records.merge([record(1, written: 100)], at: 100)
        records.merge([record(1, written: 50)], at: 200)
        #expect(records[key(1)]?.written == 100)
        records.merge([record(1, written: 150)], at: 200)
        #expect(records[key(1)]?.written == 150)
        records.merge([record(1, written: 9_999, used: .max)], at: 200)
        #expect(records[key(1)]?.written == 150)
        records.merge([record(2, written: .max, used: .max)], at: .max)
        #expect(records.count == 2)
    }

    @Test func `a later result of another process takes the place of a result, an older one does not`() {
        var table = CacheTable(limits(entries: 10))
        let own = result(1)
        table.store(own, at: 100)
        table.file(own, as: key(1), Bytes("1"))
        for (written, stays) in [(Int64(50), true), (9_999, true), (150, false)] {
            table.merge([record(1, written: written)], at: 200)
            #expect(isThere(1, in: table) == stays)
        }
        #expect(table.records.map(\.written) == [150])
        table.store(own, at: .max)
        table.store(result(2), at: .max)
        #expect(table.count == 3)
    }

    @Test func `what nobody has asked for in this process makes room first, and what the file has no room for goes`() {
        var table = CacheTable(limits(entries: 3))
        table.merge([record(1, written: 1), record(2, written: 2)], at: 3)
        for number in 5...7 { table.store(result(number), at: Int64(number)) }
        #expect((5...7).allSatisfy { isThere($0, in: table) })
        #expect(table.unread.isEmpty)
        let six = result(6)
        table.store(six, at: 10)
        table.file(six, as: key(6), Bytes("6"))
        table.drop([key(6)])
        #expect(!isThere(6, in: table) && isThere(7, in: table))
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

@Suite struct `Saving pace` {
    @Test func `one write at a time, none without a change, and a pause after each`() {
        var pace = SavingPace()
        #expect(pace.changed() == .write)
        #expect(pace.changed() == .nothing)
        #expect(!pace.isWritten)
        #expect(pace.written(isGood: true) == .pause)
        #expect(pace.changed() == .nothing)
        #expect(pace.pauseIsOver() == .write)
        #expect(pace.written(isGood: true) == .pause)
        #expect(pace.isWritten)
        #expect(pace.wanted() == .nothing)
        #expect(pace.pauseIsOver() == .nothing)
        #expect(pace.changed() == .write)
        #expect(pace.pauseIsOver() == .nothing)
    }

    @Test func `a write that failed is tried again with the next change, or when somebody wants it`() {
        var pace = SavingPace()
        _ = pace.changed()
        #expect(pace.written(isGood: false) == .pause)
        #expect(!pace.isWritten)
        #expect(pace.pauseIsOver() == .nothing)
        #expect(pace.wanted() == .write)
        #expect(pace.written(isGood: false) == .pause)
        #expect(pace.pauseIsOver() == .nothing)
        #expect(pace.changed() == .write)
    }

    @Test func `who waits for the file does not wait for the pause`() {
        var pace = SavingPace()
        _ = pace.changed()
        _ = pace.written(isGood: true)
        _ = pace.changed()
        #expect(pace.wanted() == .write)
        #expect(pace.wanted() == .nothing)
    }
}
