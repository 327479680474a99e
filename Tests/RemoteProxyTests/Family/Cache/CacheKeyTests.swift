// Which calls get the same result from a cache.

import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Cache keys` {
    private let loop = ManualLoop()
    private let cabinet = CountingCabinet()
    private let cached: CabinetProxy

    init() {
        let policy = CachePolicy(freshFor: .seconds(100))
        cached = CabinetProxy(cabinet).cached(in: .memory, methods: nil, policy, .manual(loop))
    }

    @Test func `arguments that are hashable are compared by themselves, and not put into JSON`() throws {
        let encodings = Folder.encodings
        #expect(try loop.complete { try await cached.look(Folder("a")).name } == "a1")
        #expect(try loop.complete { try await cached.look(Folder("A")).name } == "a1")
        #expect(Folder.encodings == encodings)
    }

    @Test func `results whose keys have the same hash make room for each other and are never mixed up`() throws {
        #expect(try loop.complete { try await cached.look(Folder("a")).name } == "a1")
        #expect(try loop.complete { try await cached.look(Folder("b")).name } == "b2")
        #expect(try loop.complete { try await cached.look(Folder("B")).name } == "b2")
        #expect(try loop.complete { try await cached.look(Folder("a")).name } == "a3")
        let both = try loop.complete {
            async let one = cached.look(Folder("c"))
            async let other = cached.look(Folder("d"))
            return try await (one.name.first, other.name.first)
        }
        #expect(both == ("c", "d"))
    }

    @Test func `arguments that are not hashable are compared as JSON, whatever the order of a dictionary`() throws {
        let words = (0..<50).map { ("word \($0)", $0) }
        for order in [words, words.reversed(), words.shuffled()] {
            var paper = Paper(words: Dictionary(minimumCapacity: order.first?.1 == 0 ? 10 : 1_000))
            for (word, number) in order { paper.words[word] = number }
            let sent = paper
            #expect(try loop.complete { try await cached.read(sent, 1) } == "1")
        }
        #expect(try loop.complete { try await cached.read(Paper(), 1) } == "2")
        #expect(try loop.complete { try await cached.read(Paper(), 2) } == "3")
        #expect(try loop.complete { try await cached.read(Paper(), 1) } == "2")
    }

    @Test func `what is not equal to itself, or cannot be compared at all, goes straight through`() throws {
        for number in 1...3 { #expect(try loop.complete { try await cached.weigh(.nan) } == number) }
        for number in 4...6 {
            #expect(try loop.complete { try await cached.read(Paper(weight: .nan), 1) } == "\(number)")
        }
    }

    @Test func `equal arguments of two methods are two keys, and each argument counts`() throws {
        #expect(try loop.complete { try await cached.weigh(2) } == 1)
        #expect(try loop.complete { try await cached.weighAgain(2) } == 2)
        #expect(try loop.complete { try await cached.weigh(2) } == 1)
        for number in 0..<2 {
            #expect(try loop.complete { try await cached.compare("a", ["b"], [1, 2]) } == 3)
            #expect(try loop.complete { try await cached.compare("b", ["b"], [1, 2]) } == 4)
            #expect(try loop.complete { try await cached.compare("a", ["b", "b"], [1, 2]) } == 5)
            #expect(try loop.complete { try await cached.compare("a", ["b"], nil) } == 6)
            #expect(cabinet.looks == 6, "round \(number)")
        }
    }
}
