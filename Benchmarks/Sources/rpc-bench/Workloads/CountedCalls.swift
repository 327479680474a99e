// Calls whose instructions `.ci/instructions` counts. A busy machine hardly changes the count, and a processor that hides its own
// counters does not prevent it.

import BenchSystem
import RPCServer
import RemoteProxy
public import SampleProtocols
import SampleSubjects

/// Gives its objects by reference. Not internal, for the reason that `LetterBox` gives.
@Service
@usableFromInline
protocol Desk: Sendable {
    func calculator() async throws -> any Calculator
    func box() async throws -> any LetterBox
    /// So many new ones. Only the caller keeps them.
    func boxes(_ count: Int) async throws -> [any LetterBox]
}

private struct OpenDesk: Desk {
    func calculator() async throws -> any Calculator { CheckedCalculator() }
    func box() async throws -> any LetterBox { CountingLetterBox() }
    func boxes(_ count: Int) async throws -> [any LetterBox] { (0..<count).map { _ in CountingLetterBox() } }
}

/// Prints a name and a number of calls, and makes the calls: through each local proxy, and to an object behind a socket.
enum CountedCalls {
    static func play() async throws {
        // What the runtime does once. Remote calls start the loops, which would otherwise start while local calls are counted.
        try await count("start", 1) { _ in }
        try await playRemotely()
        let (object, other, apart) = (WoodenAbacus(), WoodenAbacus(), WoodenAbacus())
        let kinds = LocalKind.all(around: object, and: other, apart: apart)
        for shape in LocalShape.allCases {
            let direct = disguised(object)
            try await count("direct_\(shape)", 1_000) { try await shape.play($0, on: direct) }
        }
        // Makes the objects, fills the caches, and has the runtime find what it finds once.
        for kind in kinds { try await kind.shape.play(100, on: kind.abacus) }
        for kind in kinds {
            let abacus = disguised(kind.abacus)
            try await count(kind.name, 1_000) { try await kind.shape.play($0, on: abacus) }
        }
        withExtendedLifetime((other, apart)) {}
    }

    private static func playRemotely() async throws {
        let server = RPCServer()
        server.export(CalculatorProxy(CheckedCalculator()))
        server.export(EchoProxy(PlainEcho()))
        server.export(LetterBoxProxy(CountingLetterBox()))
        server.export(DeskProxy(OpenDesk()))
        let client = RPCClient(try await server.listen(on: "tcp://127.0.0.1:0"))
        let (echo, desk) = (EchoProxy(client), DeskProxy(client))
        for (name, callers) in [("remote", 64), ("remote_record", 64), ("remote_alone", 1), ("reference", 64)] {
            let calculator: any Calculator = name == "reference" ? try await desk.calculator() : CalculatorProxy(client)
            let calls: @Sendable (Int) async throws -> Void = { calls in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<callers {
                        group.addTask(executorPreference: client.executor) {
                            for _ in 0..<calls / callers {
                                if name == "remote_record" {
                                    try check(await echo.record(.sample).id == Record.sample.id)
                                } else {
                                    try check(await calculator.add(1_000, 24) == 1_024)
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            try await calls(640)
            try await count(name, 6_400, calls)
        }
        for (name, box) in [("remote_post", LetterBoxProxy(client)), ("reference_post", try await desk.box())] {
            let posts: @Sendable (Int) async throws -> Void = { posts in
                for _ in 0..<posts / 64 {
                    for number in 0..<64 { box.drop(number) }
                    _ = try await box.count()
                }
            }
            try await posts(640)
            try await count(name, 6_400, posts)
        }
        // The first time finds what the runtime finds once.
        for name in ["start", "reference_given"] {
            try await count(name, 1_000) { calls in
                let boxes = try await desk.boxes(calls)
                try check(boxes.count == calls)
            }
        }
        client.close()
        await server.stop()
    }

    private static func count(_ name: String, _ calls: Int, _ play: (Int) async throws -> Void) async throws {
        Program.say("\(name) \(calls)")
        bench_instructions_begin()
        try await play(calls)
        bench_instructions_end()
    }
}
