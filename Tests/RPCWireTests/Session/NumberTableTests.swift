// The table from call numbers to slots, held against a dictionary.

import RPCWire
import TestSupport
import Testing

@Suite(.computesForLong) struct `Number table` {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `it agrees with a dictionary over random insertions and removals`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = NumberTable()
        var model: [Int64: Int] = [:]
        var next: Int64 = 1
        for step in 0..<20_000 {
            if Bool.random(using: &random) || model.isEmpty {
                // Gaps make clusters that probing has to cross.
                next += Int64.random(in: 1...40, using: &random)
                table.insert(next, step)
                model[next] = step
            } else {
                let key = Bool.random(using: &random) ? model.keys.randomElement(using: &random) ?? 1 : next + 7
                #expect(table.slot(of: key) == model[key])
                #expect(table.remove(key) == model.removeValue(forKey: key))
            }
            #expect(table.count == model.count)
        }
        for (key, slot) in model { #expect(table.slot(of: key) == slot) }
    }

    @Test(arguments: [0, -1, .min, .max] as [Int64])
    func `a number that was never handed out is not there`(_ key: Int64) {
        var table = NumberTable()
        table.insert(1, 0)
        #expect(table.remove(key) == nil)
        #expect(table.slot(of: key) == nil)
        #expect(table.count == 1)
    }
}
