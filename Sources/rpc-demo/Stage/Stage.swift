// The narrator: runs what an act shows, prints it, and compares the result with the expected one.

import RPCServer
import RemoteProxy

/// One stop of the tour: does one thing, shows it on the stage, and checks the result.
struct Act: Sendable {
    let title: String
    /// What the act shows, and why that is worth seeing.
    let story: String
    /// Throws `Difference` when the result is not the expected one.
    let play: @Sendable (Stage) async throws -> Void

    init(_ title: String, _ story: String, play: @escaping @Sendable (Stage) async throws -> Void) {
        (self.title, self.story, self.play) = (title, story, play)
    }
}

/// Where acts are played, with the server that most of them call.
struct Stage: Sendable {
    let endpoint: Endpoint
    /// A client of that server.
    let client: RPCClient
    private let ink = Ink()

    init(endpoint: Endpoint) { (self.endpoint, client) = (endpoint, Self.client(of: endpoint)) }

    func says(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) { ink.write("  \(line)") }
    }

    func begins(_ act: Act, _ label: String) {
        ink.write("\n\(label)  \(act.title)", .bold)
        says(act.story)
    }

    /// Shows a line of code, runs it, and shows the result, which must be right. Returns it.
    @discardableResult
    func show<Value>(
        _ code: String, as wording: (Value) -> String = { spoken($0) }, where isRight: (Value) -> Bool = { _ in true },
        _ body: () async throws -> Value
    ) async throws -> Value {
        try await run(code, body) { result in
            switch result {
            case .success(let value): (wording(value), isRight(value))
            case .failure(let error): ("throws \(spoken(error))", false)
            }
        }.get()
    }

    /// Shows a line of code, runs it, and shows the result, which must be `expected`.
    func show<Value: Equatable>(
        _ code: String, expecting expected: Value, _ body: () async throws -> Value
    ) async throws {
        try await show(code, where: { $0 == expected }, body)
    }

    /// Shows a line of code, runs it, and shows the error, which must be the expected one.
    func show<Value>(
        _ code: String, throwing isExpected: (any Error) -> Bool, _ body: () async throws -> Value
    ) async throws {
        _ = try await run(code, body) { result in
            switch result {
            case .success(let value): (spoken(value), false)
            case .failure(let error): ("throws \(spoken(error))", isExpected(error))
            }
        }
    }

    /// Shows a value that is not the result of a line of code.
    func show<Value: Equatable>(_ what: String, _ value: Value, expecting expected: Value) throws {
        ink.write("    ← \(what): \(spoken(value))", .green)
        guard value == expected else { throw Difference("'\(what)' should be \(spoken(expected))") }
    }

    private func run<Value>(
        _ code: String, _ body: () async throws -> Value,
        _ judge: (Result<Value, any Error>) -> (text: String, isRight: Bool)
    ) async throws -> Result<Value, any Error> {
        ink.write("    → " + code.split(separator: "\n").joined(separator: "\n      "), .cyan)
        let start = ContinuousClock.now
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        let time = start.duration(to: .now)
        let (text, isRight) = judge(result)
        ink.write("    ← \(text)", .green, note: time.text)
        guard isRight else { throw Difference("'\(code)' should not have this result: \(text)") }
        return result
    }

    /// Gives the body a server that no other act uses, its endpoint and a client of it. Both end with the body.
    func withServer(
        _ object: some ServiceProxy, at place: Endpoint = "tcp://127.0.0.1:0",
        _ body: (RPCServer, Endpoint, RPCClient) async throws -> Void
    ) async throws {
        let server = RPCServer()
        server.export(object)
        let endpoint = try await server.listen(on: place)
        let client = Self.client(of: endpoint)
        try await body(server, endpoint, client)
        client.close()
        await server.stop()
    }

    /// A client that logs nothing: the acts say themselves what happens.
    static func client(of endpoint: Endpoint) -> RPCClient {
        var configuration = RPCClient.Configuration()
        configuration.log = { _ in }
        return RPCClient(endpoint, configuration)
    }

    /// A place for a server where no other program listens.
    static func ownPlace() throws -> Endpoint { try Endpoint("unix://\(ownPath())") }

    /// The path of a file that no other program uses. A socket's path must be short, so it cannot be in every folder.
    static func ownPath(in folder: String = "/tmp") -> String {
        "\(folder)/rpc-demo-" + String(UInt64.random(in: 0 ... .max), radix: 36)
    }
}
