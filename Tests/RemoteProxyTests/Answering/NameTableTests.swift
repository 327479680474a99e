// A table of names finds the names that were added and not removed, and no others.

import TestSupport
import Testing

@testable import RemoteProxy

struct `A table of names` {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `agrees with a dictionary`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (table, known) = (NameTable<Int>(), [String: Int]())
        for step in 0..<3_000 {
            let name = "object \(Int.random(in: 0..<400, using: &random))"
            if known.removeValue(forKey: name) != nil {
                table.remove(name)
            } else {
                known[name] = step
                table.add(step, named: name)
            }
        }
        #expect(known.count > 100 && table.count == known.count && table.values.sorted() == known.values.sorted())
        #expect((0..<400).allSatisfy { table["object \($0)"] == known["object \($0)"] })
    }

    @Test func `finds a name wherever it is divided`() {
        var table = NameTable<Int>()
        for (number, name) in ["Greeter.greet", "Greeter.gree", "", "Größer.größer"].enumerated() {
            table.add(number, named: name)
        }
        let text = Array("Greeter.greet".utf8)
        text.withUnsafeBytes { text in
            for part in 0...text.count {
                let name = (
                    UnsafeRawBufferPointer(rebasing: text[..<part]), UnsafeRawBufferPointer(rebasing: text[part...])
                )
                #expect(table.value(name) == 0)
            }
        }
        #expect(table[""] == 2 && table["Größer.größer"] == 3 && table["Greeter"] == nil)
    }
}
