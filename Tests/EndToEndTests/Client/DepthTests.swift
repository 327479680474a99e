// How deep arguments and results may be, at each end, and what a caller is told of one that is deeper.

import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

/// As many arrays in each other as it has levels.
struct Nesting: Codable, Sendable, Hashable {
    var inner: [Nesting] = []

    init(levels: Int) { for _ in 1..<levels { self = Nesting(around: self) } }
    private init(around inner: Nesting) { self.inner = [inner] }

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd { inner.append(try container.decode(Nesting.self)) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for value in inner { try container.encode(value) }
    }

    var levels: Int {
        var (count, next) = (1, inner.first)
        while let value = next { (count, next) = (count + 1, value.inner.first) }
        return count
    }
}

/// Two levels for each link, as Swift writes enumerations: through nested containers.
indirect enum Chain: Codable, Sendable, Hashable {
    case end, link(Chain)

    init(levels: Int) {
        self = .end
        for _ in 1..<levels / 2 { self = .link(self) }
    }
}

@Service protocol Nester: Sendable {
    func levels(of value: Nesting) async throws -> Int
    func links(of value: Chain) async throws -> Int
    func nested(_ levels: Int) async throws -> Nesting
    func chained(_ levels: Int) async throws -> Chain
    func echo(_ value: Nesting) async throws -> Nesting
    func note(_ value: Nesting)
    func notes() async throws -> [Int]
}

private final class PlainNester: Nester {
    private let noted = Lock<[Int]>([])

    func levels(of value: Nesting) async throws -> Int { value.levels }
    func links(of value: Chain) async throws -> Int {
        var (count, rest) = (1, value)
        while case .link(let next) = rest { (count, rest) = (count + 1, next) }
        return count
    }
    func nested(_ levels: Int) async throws -> Nesting { Nesting(levels: levels) }
    func chained(_ levels: Int) async throws -> Chain { Chain(levels: levels) }
    func echo(_ value: Nesting) async throws -> Nesting { value }
    func note(_ value: Nesting) { noted.withLock { $0.append(value.levels) } }
    func notes() async throws -> [Int] { noted.withLock { $0 } }
}

@Suite(.waitsForOthers) struct `Deep values` {
    private func withNester(
        over medium: Medium, _ configuration: RPCServer.Configuration = .quiet,
        _ body: (NesterProxy) async throws -> Void
    ) async throws {
        try await withServer(over: medium, configuration, exporting: [NesterProxy(PlainNester())]) { url in
            try await body(NesterProxy(RPCClient(url, .patient)))
        }
    }

    @Test(arguments: [1, 40, 510, 511, 512], Medium.withTLS)
    func `travel in either direction`(levels: Int, over medium: Medium) async throws {
        try await withNester(over: medium) { nester in
            let value = Nesting(levels: levels)
            try #require(await nester.levels(of: value) == levels)
            try #require(await nester.nested(levels) == value)
            try #require(await nester.echo(value) == value)
        }
    }

    @Test(arguments: [513, 514, 600, 2_000], Medium.withTLS)
    func `of more levels than the limit are not sent, and their caller is told its name`(
        levels: Int, over medium: Medium
    )
        async throws
    {
        try await withNester(over: medium) { nester in
            let tooDeep = await #expect(throws: RPCError.self) { try await nester.levels(of: Nesting(levels: levels)) }
            #expect(tooDeep?.code == .invalidArguments && tooDeep?.outcome == .notExecuted)
            #expect(tooDeep?.message.contains("Nested deeper than 512 levels (maximumDepth)") == true)
            let chained = await #expect(throws: RPCError.self) { try await nester.links(of: Chain(levels: levels + 1)) }
            #expect(chained?.code == .invalidArguments && chained?.outcome == .notExecuted)
            #expect(chained?.message.contains("Nested deeper than 512 levels (maximumDepth)") == true)
            let result = await #expect(throws: RPCError.self) { try await nester.nested(levels) }
            #expect(result?.code == .responseTooLarge && result?.outcome == .executed)
            #expect(result?.message.contains("(maximumDepth)") == true)
            let chain = await #expect(throws: RPCError.self) { try await nester.chained(levels + 1) }
            #expect(chain?.code == .responseTooLarge && chain?.outcome == .executed)
            try #require(await nester.levels(of: Nesting(levels: 2)) == 2)
        }
    }

    /// Row C21 of "What became of my call".
    @Test(arguments: Medium.withTLS)
    func `of more levels than the server takes are refused under the id of their call`(over medium: Medium) async throws
    {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.maximumDepth = 20
        try await withNester(over: medium, configuration) { nester in
            try #require(await nester.levels(of: Nesting(levels: 20)) == 20)
            for levels in [21, 40, 512] {
                let error = await #expect(throws: RPCError.self) {
                    try await nester.levels(of: Nesting(levels: levels))
                }
                #expect(error?.code == .invalidArguments && error?.outcome == .notExecuted)
                #expect(error?.message.contains("nested deeper than 20 levels") == true)
                #expect(error?.message.contains("(maximumDepth)") == true)
            }
            // A post is told to the server's log, and holds up none of those that follow.
            nester.note(Nesting(levels: 40))
            nester.note(Nesting(levels: 3))
            try await until { try await nester.notes() == [3] }
            // Results are the server's own.
            try #require(await nester.nested(40).levels == 40)
        }
    }

    @Test func `of more than 512 levels are taken by a server that is told to`() async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.maximumDepth = 1_024
        try await withServer("tcp://127.0.0.1:0", configuration, exporting: [NesterProxy(PlainNester())]) { url in
            try await blocking {
                let client = try RawClient(url)
                for (levels, answer) in [(1_024, "1=1024"), (1_025, "1!-32602")] {
                    let value = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
                    for params in ["[\(value)]", #"{"value":\#(value)}"#] {
                        let call = #"{"jsonrpc":"2.0","method":"Nester.levels","params":\#(params),"id":1}"#
                        #expect(try brief(client.ask(call)) == answer)
                    }
                }
            }.get()
        }
    }

    @Test(arguments: Medium.withTLS)
    func `that cannot be sent leave out the middle of where they stand, and say so`(over medium: Medium) async throws {
        try await withNester(over: medium) { nester in
            let error = await #expect(throws: RPCError.self) { try await nester.levels(of: Nesting(levels: 513)) }
            let start = String(repeating: "[0]", count: 16)
            #expect(error?.message.contains("at \(start)…(480 steps)…\(start): Nested") == true)
            #expect((error?.description.count ?? .max) < 400)
        }
    }
}
