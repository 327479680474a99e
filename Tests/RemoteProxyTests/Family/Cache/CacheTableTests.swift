// The pure parts of the cache: what has to go, what equal arguments are, when a file is written.

import JSONCodec
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Cache table` {
    private func table(entries: Int = 1_000, bytes: Int = 1 << 20) -> CacheTable {
        var policy = CachePolicy()
        policy.maximumEntries = entries
        policy.maximumBytes = bytes
        return CacheTable(CacheTable.Limits(policy))
    }

    private func key(_ number: Int) -> CacheKey { CacheKey(service: "S", method: "m", arguments: "[\(number)]") }
    private func value(_ size: Int) -> UnreadValue { UnreadValue(json: Bytes(String(repeating: "1", count: size))) }

    @Test func `a table is never above its limits, and what was stored last is in it`() {
        var chance = SeededGenerator(seed: 7)
        for _ in 0..<50 {
            let (entries, bytes) = (Int.random(in: 1...20, using: &chance), Int.random(in: 20...400, using: &chance))
            var table = table(entries: entries, bytes: bytes)
            for time in 0..<200 {
                let key = key(Int.random(in: 0..<40, using: &chance))
                let value = value(Int.random(in: 1...60, using: &chance))
                let isKept = table.store(value, for: key, at: Int64(time))
                #expect((table[key] === value) == isKept)
                #expect(table.count <= entries)
                #expect(table.bytes <= bytes)
                #expect(table.bytes == table.records.reduce(0) { $0 + $1.size })
            }
        }
    }

    @Test func `of two results for one key the later one stays, whoever brings it`() {
        var table = table()
        let (own, older, later) = (value(1), value(2), value(3))
        _ = table.store(own, for: key(1), at: 100)
        table.merge([CacheRecord(key: key(1), value: older, written: 50, used: 50)], at: 200)
        #expect(table[key(1)] === own)
        table.merge([CacheRecord(key: key(1), value: later, written: 150, used: 150)], at: 200)
        #expect(table[key(1)] === later)
        table.merge([CacheRecord(key: key(1), value: older, written: 9_999, used: .max)], at: 200)
        #expect(table[key(1)] === later)
        _ = table.store(own, for: key(1), at: .max)
        _ = table.store(own, for: key(2), at: .max)
        #expect(table.count == 2)
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
