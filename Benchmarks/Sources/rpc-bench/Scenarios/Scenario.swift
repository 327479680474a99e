// One way in which a server is loaded, and what is claimed of it. Ends in one line: what was measured, what was asked
// for, met or missed.

import RPCServer

/// A scenario.
struct Scenario: Sendable {
    let name: String
    let summary: String
    let claims: [Claim]
    /// How long it takes where that can be chosen.
    var seconds = 3.0
    /// What the server is told that it would not do by itself.
    var configure: @Sendable (inout RPCServer.Configuration) -> Void = { _ in }
    /// The client's part, in its own process.
    let client: @Sendable (Site) async throws -> Figures

    static func named(_ name: String) throws(BenchFailure) -> Scenario {
        guard let scenario = all.first(where: { $0.name == name }) else {
            throw BenchFailure("there is no scenario '\(name)'; there are \(all.map(\.name).joined(separator: ", "))")
        }
        return scenario
    }

    /// Runs the named ones, or all, a line each.
    /// - Throws: at the end, when a firm claim was missed.
    static func run(_ names: [String], seconds: Double?) throws {
        var missed: [String] = []
        for scenario in try names.isEmpty ? all : names.map({ name throws(BenchFailure) in try named(name) }) {
            let verdict = Verdict(scenario, try scenario.figures(seconds ?? scenario.seconds))
            Program.say(verdict.line)
            if verdict.isFirmlyMissed { missed.append(scenario.name) }
        }
        if !missed.isEmpty {
            throw BenchFailure("missed what has to hold on any machine: \(missed.joined(separator: ", "))")
        }
    }

    private func figures(_ seconds: Double) throws -> Figures {
        let server = try Child(.serve, [name])
        let url = try server.firstLine()
        var client = try Child(.scenario, [name, url, "\(server.process)", "\(seconds)"])
        return try Figures(lines: client.outputToEnd())
    }
}

/// What is claimed of one figure of a scenario.
struct Claim: Sendable {
    let goal: Goal
    /// Whether it holds on a machine that is busy with other things: counts, memory, processor time.
    let isFirm: Bool

    static func firm(_ figure: String, _ bound: Goal.Bound) -> Claim { Claim(goal: Goal(figure, bound), isFirm: true) }
    static func timed(_ figure: String, _ bound: Goal.Bound) -> Claim {
        Claim(goal: Goal(figure, bound), isFirm: false)
    }
}

/// What came of one run.
struct Verdict {
    private let scenario: Scenario
    private let figures: Figures

    init(_ scenario: Scenario, _ figures: Figures) {
        self.scenario = scenario
        self.figures = figures
    }

    private var missed: [Claim] { scenario.claims.filter { $0.goal.isMet(by: figures) != true } }
    var isFirmlyMissed: Bool { missed.contains { $0.isFirm } }

    var line: String {
        let claims = scenario.claims.map { claim in
            let value = figures[claim.goal.figure].map(Number.short) ?? "-"
            let mark = claim.goal.isMet(by: figures) == true ? "" : " MISSED"
            return "\(claim.goal.description): \(value)\(mark)"
        }
        let claimed = Set(scenario.claims.map(\.goal.figure))
        let others = figures.names.filter { !claimed.contains($0) }.map { "\($0) \(Number.short(figures[$0] ?? .nan))" }
        let word = missed.isEmpty ? "met" : isFirmlyMissed ? "MISSED" : "missed in time only"
        return "\(scenario.name) \(word): \(scenario.summary): \((claims + others).joined(separator: ", "))"
    }
}
