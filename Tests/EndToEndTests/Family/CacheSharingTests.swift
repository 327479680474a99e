// Two real processes whose caches are in one file, which both read and write as fast as they can.

import Foundation
import Protocols
import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `A cache file of two processes` {
    private static let rounds = 25

    @Test func `is whole at the end, with everything that either has seen`() async throws {
        let folder = try SocketFolder()
        let path = folder.path + "/shared.cache"
        let ends = try await blocking { [rounds = "\(Self.rounds)"] in
            let one = try ServerProgram(path, "one", "two", rounds, program: "cache-sharer")
            let two = try ServerProgram(path, "two", "one", rounds, program: "cache-sharer")
            return [one.end(), two.end()]
        }.get()
        for end in ends { #expect(end == .init(code: 0, output: "", errors: "")) }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(files == ["shared.cache", "shared.cache.lock"])

        let heard = Lock<[String]>([])
        var policy = CachePolicy(freshFor: .seconds(1_000))
        policy.log = { text in heard.withLock { $0.append(text.message) } }
        let silent = Silent()
        let reader = GreeterProxy(silent).cached(in: .file(path), methods: [.greet], policy)
        for round in 0..<Self.rounds {
            #expect(try await reader.greet("one \(round)") == "one \(round) by one")
            #expect(try await reader.greet("two \(round)") == "two \(round) by two")
            let both = try await reader.greet("both \(round)")
            #expect(["one", "two"].map { "both \(round) by \($0)" }.contains(both))
        }
        #expect(heard.withLock { $0 } == [])
        #expect(silent.questions.withLock { $0 } == 0, "all of it is fresh, whoever came first")
    }
}

/// So that all there is comes from the file.
private final class Silent: Greeter {
    struct NothingToSay: Error {}
    let questions = Lock(0)
    func greet(_ name: String) async throws -> String {
        questions.withLock { $0 += 1 }
        throw NothingToSay()
    }
}
