// The stories of objects that come late, go early or are many, as the tour tells them.

import Protocols
import Subjects
import TestSupport
import Testing

@Suite(.waitsForOthers) struct ObjectStoryTests {
    @Test func `a presenter that keeps its view leaks it, and one with a proxy does not`() async throws {
        let story = try await Self.story("A presenter and its view")
        let fates = story.filter { $0.contains("left of it afterwards: ") }.map { $0.split(separator: ": ").last }
        #expect(fates == ["\"the screen, for ever\"", "\"nothing\"", "\"nothing\""])
        #expect(story.filter { $0.hasSuffix(#"on the screen: ["loading …", "• rain", "• tea", "done"]"#) }.count == 3)
    }

    @Test func `delegates are shared, many, incomplete and gone`() async throws {
        let story = try await Self.story("Delegates of a login screen")
        #expect(story.contains { $0.hasSuffix(#"book: ["Ann came in", "Eve failed", "Joe came in"]"#) })
        #expect(story.filter { $0.contains("the waitress knows: ") }.count == 2)
        #expect(story.contains { $0.hasSuffix(#"knows: ["Joe", "Lea"]"#) })
    }

    @Test func `a heavy object is made once, for all that come at once`() async throws {
        let story = try await Self.story("A heavy object behind a module's border")
        #expect(story.contains { $0.hasSuffix("tables made so far: 0") })
        #expect(story.contains { $0.hasPrefix("    ← 26 ") })
    }

    @Test func `a list opens at once, whether the server is slow, away, or away at the next launch`() async throws {
        let story = try await Self.story("A list that opens at once")
        let openings = ["plain proxy", "cached proxy, again", "new at the server", "server away", "next launch"]
        for opening in openings { #expect(story.contains { $0.contains("← \(opening), after ") }) }
        #expect(story.contains { $0.contains("no newer, because: \"the server is away\"") })
    }

    @Test func `a shared object comes with the first client, is one's alone for a while, and goes with the last`()
        async throws
    {
        let story = try await Self.story("Counted and locked")
        let events = ["\"hung up\"", "\"taken down\""]
        #expect(story.filter { $0.contains("what happened in the room: ") }.count == events.count)
        for event in events { #expect(story.contains { $0.hasSuffix(event) }) }
    }

    @Test func `an object that its module does not show is reached through its proxy`() async throws {
        let proxy = primes()
        #expect(try await proxy.count(upTo: 1_000) == 168)
        #expect(try await proxy.count(upTo: .max) == 5_133)
        #expect(try await proxy.count(upTo: .min) == 0)
    }

    /// One tour for all of them.
    private static let tour = Task { try await DemoProcess.run("rpc-demo", ["--all"]) }

    /// The lines of one act.
    private static func story(_ title: String) async throws -> [String] {
        let tour = try await tour.value
        #expect(tour.exitCode == 0, "\(tour.errors)")
        let lines = tour.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let begin = try #require(lines.firstIndex { $0.hasSuffix("  \(title)") })
        return Array(lines[begin...].prefix { !$0.isEmpty })
    }
}
