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

    @Test func `delegates at a client are weak, kept, incomplete and of an earlier release`() async throws {
        let story = try await Self.story("Delegates over the wire")
        #expect(Self.results(in: story, of: ".add(") == ["true", "true", "true", "false"])
        #expect(story.contains { $0.hasSuffix(#"porter heard: ["Ann came in", "Eve failed", "Joe came in"]"#) })
        for listener in ["waitress", "cook"] {
            let heard = story.filter { $0.contains("the \(listener) heard: ") }.map { $0.split(separator: ": ").last }
            #expect(heard == [#"["Joe came in"]"#, #"["Lea came in"]"#])
        }
        #expect(story.contains { $0.hasSuffix(#"last note: ["I am gone"]"#) })
    }

    @Test func `an object that is handed over stays at its end, for as long as it is held`() async throws {
        let story = try await Self.story("Handing objects around")
        #expect(Self.results(in: story, of: "booksHeld()") == ["1", "0"])
        #expect(Self.results(in: story, of: "library.compare(") == ["true", "false"])
        #expect(Self.results(in: story, of: "isIdentical(") == ["true"])
    }

    @Test func `a closure is called at its own end`() async throws {
        let story = try await Self.story("A download that says how far it has come")
        #expect(story.contains { $0.hasSuffix("called with: [25, 50, 75, 100]") })
    }

    @Test func `three clients talk in one room, and are out of it when they leave, go away or let go`() async throws {
        let story = try await Self.story("A chat of three clients")
        let talk = #"heard: ["Ann: Is it raining?", "Bob: Not any more."]"#
        #expect(story.filter { $0.hasSuffix(talk) }.count == 3)
        #expect(story.contains { $0.hasSuffix(#"Ann heard: ["Bob has left", "Cid has left"]"#) })
        #expect(Self.results(in: story, of: "anns.rooms()") == [#"["garden"]"#, "[]"])
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

    /// What came out of the lines of code with that text in them.
    private static func results(in story: [String], of code: String) -> [String] {
        zip(story, story.dropFirst()).filter { $0.0.contains("→") && $0.0.contains(code) }.map { _, result in
            let text = result.drop { $0 != "←" }.dropFirst(2)
            return String(text.split(separator: "   ").first ?? "")
        }
    }
}
