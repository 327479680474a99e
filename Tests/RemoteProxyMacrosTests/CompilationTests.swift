// The compiler itself, with the plugin just built: what is accepted compiles without a word, and what is refused is
// refused once, at its place. One run over one file each.

import Foundation
import TestSupport
import Testing

@testable import RemoteProxyMacros

@Suite(.enabled(if: CompilerRun.isPossible, "the built plugin, the RemoteProxy module or swiftc was not found"))
struct CompilationTests {
    @Test(arguments: [
        [],
        [
            "-enable-upcoming-feature", "ExistentialAny", "-enable-upcoming-feature", "InternalImportsByDefault",
            "-enable-upcoming-feature", "MemberImportVisibility", "-enable-upcoming-feature",
            "NonisolatedNonsendingByDefault", "-enable-upcoming-feature", "InferIsolatedConformances",
        ],
        ["-default-isolation", "MainActor"],
        ["-swift-version", "5", "-strict-concurrency=complete"],
    ])
    func `what is accepted compiles without a warning`(flags: [String]) async throws {
        #expect(try await CompilerRun.messages(of: AcceptedSource.text, flags: flags) == [])
    }

    @Test func `a nested protocol that is not public is the only fault, wherever its proxy is used`() async throws {
        let source = """
            import RemoteProxy
            enum House {
                @Service
                protocol Bell: Sendable {
                    func ring(_ times: Int) async throws -> Local
                    func mute()
                }
                struct Local: Codable {}
            }
            func export(_ proxy: some ServiceProxy) {}
            func use(_ bell: any House.Bell) { export(House.BellProxy(bell)) }
            """
        #expect(
            try await CompilerRun.messages(of: source, flags: []) == [
                "4: error: 'Bell' must be at the top level or public: a Swift optimizer bug crashes release builds that use "
                    + "a nested, non-public service (from macro 'Service')"
            ])
    }

    @Test func `what is refused is refused once, at its place, and nothing else is wrong`() async throws {
        var source = "import RemoteProxy\nprotocol Greeter {}\nprotocol Waiter {}\nstruct Overflow: Error {}\n"
        source += "struct Page<Item>: Codable { struct Kind: Codable {} }\n"
        source += "struct MethodName: Codable {}\nstruct ProxiedService: Codable {}\n"
        var expected: [String] = []
        for (number, refusal) in (RefusalTests.members + Refusal.objects).filter(\.isSwift).enumerated() {
            source += "@Service\nprotocol P\(number): Sendable {\n    \(refusal.member)\n}\n"
            source += "func use(_ p: P\(number)Proxy) { export(p) }\n"
            let line = source.split(separator: "\n", omittingEmptySubsequences: false).count - 3
            let first = line - refusal.member.count { $0 == "\n" }
            expected.append("\(first): error: \(refusal.message)")
        }
        source += "func export(_ proxy: some ServiceProxy) {}\n"
        let suffix = " (from macro 'Service')"
        let messages = try await CompilerRun.messages(of: source, flags: []).map { $0.replacing(suffix, with: "") }
        #expect(messages == expected)
    }

    @Test
    func `a type that cannot travel is one fault for each result and each argument, with the type and what to do`()
        async throws
    {
        let source = """
            import RemoteProxy
            public final class Thing: Sendable {}
            public struct Plain: Sendable {}
            @Service
            public protocol Shop: Sendable {
                func thing() async throws -> Thing
                func plain() async throws -> Plain
                func result() async throws -> Result<Int, RPCError>
                func shop() async throws -> ShopProxy
                func put(_ plain: Plain) async throws
            }
            """
        let output = try await CompilerRun.run(source)
        let messages = output.messages
        #expect(messages.count { $0.contains("this result is not Codable; declare its type so") } == 4)
        #expect(messages.count { $0.contains("this argument is not Codable; declare its type so") } == 1)
        #expect(messages.count == 5)
        #expect(output.text.contains("// A result is Codable and Sendable"))
    }

    @Test func `a closure behind a name, and an object that is exported without a proxy, are told what to write`()
        async throws
    {
        let source = """
            import RemoteProxy
            typealias Done = @Sendable () -> Void
            @Service protocol Shop: Sendable {
                func buy(_ done: [Done]) async throws
            }
            struct Store {}
            func use(_ client: RPCClient) { client.export(Store()) }
            """
        let messages = try await CompilerRun.messages(of: source, flags: [])
        #expect(messages.contains { $0.contains("an object or a closure is spelled out") }, "\(messages)")
        #expect(messages.contains { $0.contains("write export(GreeterProxy(object))") }, "\(messages)")
        #expect(messages.count == 2, "\(messages)")
    }

    @Test func `a base that is no service, or has a method of another base, is named with what to do`() async throws {
        let source = """
            import RemoteProxy
            public protocol Plain: Sendable { func plain() async throws }
            @Service public protocol First: Sendable { func reset() async throws }
            @Service public protocol Second: Sendable { func reset() async throws }
            @Service public protocol Refining: Plain { func f() async throws }
            @Service public protocol Clashing: First, Second {}
            @Service public protocol Clear: First, Second { func reset() async throws }
            """
        let output = try await CompilerRun.run(source)
        #expect(
            Set(output.messages.compactMap { $0.split(separator: " error: ").last }) == [
                "type 'ClashingProxy' does not conform to protocol 'First'",
                "type 'ClashingProxy' does not conform to protocol 'Second'",
                "type 'RefiningProxy' does not conform to protocol 'Plain'",
            ])
        #expect(output.text.contains("// Plain: a protocol with requirements needs @Service too"))
        #expect(output.text.contains("has to be declared in 'Clashing'"))
    }

    @Test func `a mark that stands elsewhere, or twice, is the only fault`() async throws {
        let source = """
            import RemoteProxy
            @Service
            protocol Greeter: Sendable {
                @ReadOnly @Idempotent
                func greet(_ name: String) async throws -> String
                func bad() async -> Int
                @ReadOnly func hello() async throws -> String
            }
            struct English {
                @ReadOnly
                func greet(_ name: String) async throws -> String { name }
            }
            func name<Proxy: ServiceProxy>(_ name: Proxy.MethodName, of proxy: Proxy.Type) {}
            func use() {
                name(.greet, of: GreeterProxy.self)
                name(.bad, of: GreeterProxy.self)
                name(.hello, of: GreeterProxy.self)
            }
            """
        let messages = try await CompilerRun.messages(of: source, flags: [])
        #expect(messages.count == 3)
        #expect(messages.first?.hasPrefix("5: error: 'greet' is marked twice") == true)
        #expect(messages.dropFirst().first?.hasPrefix("6: error: 'bad' must also throw") == true)
        #expect(messages.last?.hasPrefix("10: error: @ReadOnly can only be attached to") == true)
    }

    @Test func `a protocol that is not Sendable is the only fault, wherever its proxy is used`() async throws {
        let source = """
            import RemoteProxy
            @Service
            protocol Greeter {
                func greet(_ name: String) async throws -> String
            }
            struct English: Greeter { func greet(_ name: String) async throws -> String { name } }
            func export(_ proxy: some ServiceProxy) {}
            func start() -> any Greeter {
                export(GreeterProxy(English()))
                return GreeterProxy(English())
            }
            """
        let messages = try await CompilerRun.messages(of: source, flags: [])
        #expect(messages.count == 1)
        #expect(messages.first?.hasPrefix("3: error: 'Greeter' must inherit Sendable") == true)
    }
}

/// One type check of one file with the built plugin.
struct CompilerRun {
    /// `line: error: text` of each message about the file, and messages inside expansions as they are.
    let messages: [String]
    /// All that the compiler has printed.
    let text: String

    static func run(_ source: String, flags: [String] = []) async throws -> CompilerRun {
        try await blocking { try CompilerRun(source, flags: flags) }.get()
    }

    static func messages(of source: String, flags: [String]) async throws -> [String] {
        try await run(source, flags: flags).messages
    }

    private init(_ source: String, flags: [String]) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("service-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("Client.swift")
        try Data(source.utf8).write(to: file)
        text = try Self.run(
            ["swiftc", "-swift-version", "6"] + flags + [
                "-typecheck", "-parse-as-library", "-module-name", "Client", "-package-name", "client",
                "-diagnostic-style", "llvm", "-I", Self.modules.path, "-I", Self.cModule("CSystem"), "-I",
                Self.cModule("CText"),
                "-load-plugin-executable", "\(Self.plugin.path)#RemoteProxyPlugin", file.path,
            ])
        messages = text.split(separator: "\n").compactMap { Self.message($0, in: file.path) }.sorted {
            (Int($0.prefix { $0 != ":" }) ?? 0, $0) < (Int($1.prefix { $0 != ":" }) ?? 0, $1)
        }
    }

    private static func message(_ line: Substring, in file: String) -> String? {
        guard line.contains(": error: ") || line.contains(": warning: ") else { return nil }
        guard line.hasPrefix(file) else { return String(line) }
        // file:line:column: kind: text
        let parts = line.dropFirst(file.count + 1).split(separator: ":", maxSplits: 2)
        return parts.count == 3 ? "\(parts[0]):\(parts[2])" : String(line)
    }

    private static func run(_ arguments: [String]) throws -> String {
        // Both streams in one, in the order in which they were written.
        let process = try ChildProcess("sh", ["-c", "exec \"$@\" 2>&1", "sh"] + arguments)
        return ChildProcess.text(of: process.output)
    }

    /// Where the tests were built to.
    private static let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    private static let modules = products.appendingPathComponent("Modules")

    private static func cModule(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/\(name)/include").standardizedFileURL.path
    }

    private static let plugin =
        ["RemoteProxyPlugin-tool", "RemoteProxyPlugin"].map(products.appendingPathComponent)
        .first { FileManager.default.isExecutableFile(atPath: $0.path) } ?? products

    static let isPossible =
        plugin != products
        && FileManager.default.fileExists(atPath: modules.appendingPathComponent("RemoteProxy.swiftmodule").path)
        && (try? run(["swiftc", "--version"]).contains("Swift")) == true
}
