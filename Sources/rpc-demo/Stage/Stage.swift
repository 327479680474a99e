// The narrator: is told what happens, prints it, and holds what came back against what was expected.

import RPCSockets
import RPCWire

struct Stage: Sendable {
    let ink: Ink
    private let output = StandardStream.output

    init(ink: Ink) { self.ink = ink }

    // MARK: saying

    func opens(at url: String, isOwnServer: Bool) {
        let whose = isOwnServer ? "a server started for this tour" : "the running server you named"
        output.write(line: "\(ink.bold("A tour of RemoteProxy")) with \(whose), \(url)")
    }

    func begins(_ act: any Act, number: Int, of count: Int) {
        output.write(line: "\n\(ink.bold("\(number)/\(count)  \(act.title)"))")
        says(act.story)
    }

    func says(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) { output.write(line: "  \(line)") }
    }

    func closes(after count: Int, _ time: Duration) {
        output.write(line: "\n\(ink.green("All \(count) acts came out as they should, in \(time.text)."))")
    }

    private func does(_ code: String) {
        for (index, line) in code.split(separator: "\n").enumerated() {
            output.write(line: "    \(ink.cyan("\(index == 0 ? "→" : " ") \(line)"))")
        }
    }

    private func got(_ text: String, in time: Duration? = nil) {
        let note = time.map { "   \(ink.dim($0.text))" } ?? ""
        output.write(line: "    \(ink.green("← \(text)"))\(note)")
    }

    // MARK: doing

    /// Shows a line of code, runs it, and shows what it returned.
    @discardableResult
    func show<Value>(
        _ code: String, as wording: (Value) -> String = { spoken($0) }, where isRight: (Value) -> Bool,
        _ body: () async throws -> Value
    ) async throws -> Value {
        does(code)
        let start = ContinuousClock.now
        let value: Value
        do {
            value = try await body()
        } catch {
            throw Difference("'\(title(code))' threw \(spoken(error))")
        }
        got(wording(value), in: start.duration(to: .now))
        guard isRight(value) else { throw Difference("'\(title(code))' returned \(spoken(value)), which is not right") }
        return value
    }

    /// Shows a line of code, runs it, and shows what it returned, which must be `expected`.
    @discardableResult
    func show<Value: Equatable>(
        _ code: String, expecting expected: Value, _ body: () async throws -> Value
    ) async throws -> Value {
        try await show(code, where: { _ in true }, body).checked(is: expected, code)
    }

    /// Shows a line of code and runs it.
    func show(_ code: String, _ body: () async throws -> Void) async throws {
        try await show(code, where: { true }, body)
    }

    /// Shows a line of code, runs it, and shows what it threw, which must be the expected failure.
    func show<Value>(
        _ code: String, throwing expected: ExpectedFailure, within limit: Duration = .seconds(20),
        _ body: () async throws -> Value
    ) async throws {
        does(code)
        let start = ContinuousClock.now
        let value: Value
        do {
            value = try await body()
        } catch {
            let time = start.duration(to: .now)
            got("throws \(spoken(error))", in: time)
            guard expected.matches(error) else {
                throw Difference("'\(title(code))' threw \(spoken(error)) instead of \(expected.text)")
            }
            guard time < limit else { throw Difference("'\(title(code))' took \(time.text) to throw") }
            return
        }
        throw Difference("'\(title(code))' returned \(spoken(value)) instead of throwing \(expected.text)")
    }

    /// Shows something that came by another way than a result.
    func show<Value: Equatable>(_ what: String, _ value: Value, expecting expected: Value) throws {
        got("\(what): \(spoken(value))")
        _ = try value.checked(is: expected, what)
    }
}

extension Equatable {
    fileprivate func checked(is expected: Self, _ what: String) throws -> Self {
        guard self == expected else {
            throw Difference("'\(title(what))' gave \(spoken(self)) instead of \(spoken(expected))")
        }
        return self
    }
}

/// The first line is enough to find the place.
private func title(_ code: String) -> Substring { code.prefix { $0 != "\n" } }
