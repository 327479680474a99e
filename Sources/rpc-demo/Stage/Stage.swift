// The narrator: runs what an act shows, prints it, and compares the result with the expected one.

import RPCServer
import RemoteProxy

/// One stop of the tour: does one thing, shows it on the stage, and checks the result.
struct Act: Sendable {
    let title: String
    /// What is about to be seen, and why it is worth seeing.
    let story: String
    /// Throws `Difference` when the result is not the expected one.
    let play: @Sendable (Stage) async throws -> Void

    init(_ title: String, _ story: String, play: @escaping @Sendable (Stage) async throws -> Void) {
        (self.title, self.story, self.play) = (title, story, play)
    }
}

/// Where acts are played, with the server that most of them call.
struct Stage: Sendable {
    let url: String
    /// A client of that server.
    let client: RPCClient
    private let ink = Ink()

    init(url: String) { (self.url, client) = (url, RPCClient(url)) }

    func says(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) { ink.write("  \(line)") }
    }

    func begins(_ act: Act, _ label: String) {
        ink.write("\n\(label)  \(act.title)", .bold)
        says(act.story)
    }

    /// Shows a line of code, runs it, and shows the result.
    func show<Value>(
        _ code: String, as wording: (Value) -> String = { spoken($0) }, where isRight: (Value) -> Bool,
        _ body: () async throws -> Value
    ) async throws {
        try await run(code, wording, { (try? $0.get()).map(isRight) ?? false }, body)
    }

    /// Shows a line of code, runs it, and shows the result, which must be `expected`.
    func show<Value: Equatable>(
        _ code: String, expecting expected: Value, _ body: () async throws -> Value
    ) async throws {
        try await show(code, where: { $0 == expected }, body)
    }

    /// Shows a line of code and runs it.
    func show(_ code: String, _ body: () async throws -> Void) async throws {
        try await show(code, where: { true }, body)
    }

    /// Shows a line of code, runs it, and shows the error, which must be the expected one.
    func show<Value>(
        _ code: String, throwing isExpected: (any Error) -> Bool, _ body: () async throws -> Value
    ) async throws {
        let isRight = { (result: Result<Value, any Error>) in
            if case .failure(let error) = result { isExpected(error) } else { false }
        }
        try await run(code, { spoken($0) }, isRight, body)
    }

    /// Shows something that came by another way than a result.
    func show<Value: Equatable>(_ what: String, _ value: Value, expecting expected: Value) throws {
        ink.write("    ← \(what): \(spoken(value))", .green)
        guard value == expected else { throw Difference("'\(what)' should be \(spoken(expected))") }
    }

    private func run<Value>(
        _ code: String, _ wording: (Value) -> String, _ isRight: (Result<Value, any Error>) -> Bool,
        _ body: () async throws -> Value
    ) async throws {
        ink.write("    → " + code.split(separator: "\n").joined(separator: "\n      "), .cyan)
        let start = ContinuousClock.now
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        let time = start.duration(to: .now)
        let text =
            switch result {
            case .success(let value): wording(value)
            case .failure(let error): "throws \(spoken(error))"
            }
        ink.write("    ← \(text)", .green, note: time.text)
        guard isRight(result) else { throw Difference("'\(code)' should not have this result: \(text)") }
    }

    /// Gives the body a server that no other act uses, its address and a client of it. Both end with the body.
    func withServer(
        _ object: some ServiceProxy, at address: String = "tcp://127.0.0.1:0",
        _ body: (RPCServer, String, RPCClient) async throws -> Void
    ) async throws {
        let server = RPCServer()
        server.export(object)
        let url = try await server.listen(on: address)
        let client = RPCClient(url)
        try await body(server, url, client)
        client.close()
        await server.stop()
    }

    /// The path of a file that no other program uses. A socket's path must be short, so it cannot be in every folder.
    static func ownPath(in folder: String = "/tmp") -> String {
        "\(folder)/rpc-demo-" + String(UInt64.random(in: 0 ... .max), radix: 36)
    }
}
