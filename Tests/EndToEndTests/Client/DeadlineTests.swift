// What a subject knows of the time it has, one and two servers deep.

import Protocols
import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Deadlines` {
    /// Answers with how many milliseconds its caller has left, or with what the next one answers.
    private struct TimeTeller: Greeter {
        var next: (any Greeter)?

        func greet(_ name: String) async throws -> String {
            if let next { return try await next.greet(name) }
            guard let deadline = Deadline.current else { return "none" }
            return "\(deadline.timeLeft / .milliseconds(1)) \(deadline.hasPassed)"
        }
    }

    @Test func `outside a call there is none, and withCallTimeout makes one`() async throws {
        #expect(Deadline.current == nil)
        // So long that a machine with much else to do makes no difference.
        try await withCallTimeout(.seconds(1_000)) {
            let left = try #require(Deadline.current).timeLeft
            #expect(left > .seconds(900) && left <= .seconds(1_000))
            try await withCallTimeout(.seconds(6_000)) {
                let inner = try #require(Deadline.current).timeLeft
                #expect(inner <= left)
            }
        }
        await withCallTimeout(.zero) {
            #expect(Deadline.current?.hasPassed == true)
            #expect(Deadline.current.map { "\($0)".hasSuffix(" seconds ago") } == true)
        }
    }

    @Test(arguments: Medium.withTLS)
    func `a subject two servers away has what the first caller has left`(over medium: Medium) async throws {
        try await withServer(over: medium, exporting: [GreeterProxy(TimeTeller())]) { url in
            let upstream = RPCClient(url)
            try await withServer(over: medium, exporting: [GreeterProxy(TimeTeller(next: GreeterProxy(upstream)))]) {
                url in
                let greeter = GreeterProxy(RPCClient(url))
                let usual = try #require(Double(try await greeter.greet("").split(separator: " ").first ?? ""))
                #expect(usual > 1_000 && usual <= 30_001)
                try await withCallTimeout(.seconds(20)) {
                    let words = try await greeter.greet("").split(separator: " ")
                    let left = try #require(Double(words.first ?? ""))
                    #expect(left > 1_000 && left <= 20_002)
                    #expect(words.last == "false")
                }
            }
        }
    }
}

@Suite(.waitsForOthers) struct `Calls with little time` {
    /// Notes which calls have begun, and goes on until it is cancelled if it is told to.
    private final class Register: Calculator {
        private let begun = Lock<Set<Int>>([])

        func hasBegun(_ number: Int) -> Bool { begun.withLock { $0.contains(number) } }

        func add(_ a: Int, _ b: Int) async throws -> Int {
            begun.withLock { _ = $0.insert(a) }
            while b > 0, !Task.isCancelled { await Task.yield() }
            try Task.checkCancellation()
            return a
        }
        func divide(_ a: Int, by b: Int) async throws -> Int { a / b }
    }

    @Test(arguments: ["plain", "locked"], Medium.withTLS)
    func `are never told that they ran if they did not`(_ kind: String, over medium: Medium) async throws {
        let register = Register()
        let plain = CalculatorProxy(register)
        try await withServer(over: medium, exporting: [kind == "plain" ? plain : plain.locked()]) { url in
            let calculator = CalculatorProxy(RPCClient(url))
            _ = try await calculator.add(-1, 0)
            let outcomes = await withTaskGroup(of: (Int, RPCError.Outcome?).self) { group in
                for number in 0..<400 {
                    group.addTask {
                        do {
                            _ = try await withCallTimeout(.milliseconds(1 + number % 12)) {
                                try await calculator.add(number, 3)
                            }
                            return (number, nil)
                        } catch {
                            return (number, (error as? RPCError)?.outcome)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            for case (let number, .executed?) in outcomes { #expect(register.hasBegun(number), "\(number)") }
            for case (let number, .notExecuted?) in outcomes { #expect(!register.hasBegun(number), "\(number)") }
        }
    }
}
