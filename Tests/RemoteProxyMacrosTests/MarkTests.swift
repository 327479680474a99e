// `@ReadOnly` and `@Idempotent`: nothing is written for them, and they stand nowhere but on requirements.

import Testing

@testable import RemoteProxyMacros

struct MarkTests {
    @Test(arguments: [
        "@ReadOnly func f() async throws", "/// Doc.\n@Idempotent public var f: Int { get async throws }",
        "@available(macOS 15, *) @ReadOnly nonisolated func f()",
    ])
    func `a mark on a requirement becomes nothing`(declaration: String) {
        for context in ["protocol P: Sendable {}", "/// Doc.\n@Service(errors: A.self) public protocol P {}"] {
            let expansion = expand(declaration, inside: [context, "enum Outer {}"])
            #expect(expansion.expandedSource == "")
            #expect(expansion.diagnostics.isEmpty)
        }
    }

    @Test(arguments: [
        ("func f() {}", ["struct S {}"]), ("func f() {}", ["extension P {}"]), ("func f() {}", []),
        ("protocol P {}", []), ("typealias T = Int", ["protocol P {}"]), ("init()", ["protocol P {}"]),
        ("func f() {}", ["func g() {}", "protocol P {}"]),
    ])
    func `a mark elsewhere is refused at its place`(declaration: String, context: [String]) {
        let expansion = expand(declaration, inside: context)
        #expect(expansion.expandedSource == "")
        #expect(
            expansion.diagnostics.map(\.message) == [
                "@Idempotent can only be attached to a function or property of a protocol"
            ])
        #expect(expansion.diagnostics.map(\.position.offset) == [12])
    }

    private func expand(_ declaration: String, inside context: [String]) -> Expansion {
        Macros.mark(
            ExpansionRequest(
                macro: .init(typeName: "MarkMacro"),
                attributeSyntax: .init(
                    source: "\n    @Idempotent", location: .init(fileName: "/house/Service.swift", offset: 7)),
                declSyntax: .init(source: declaration), lexicalContext: context.map { .init(source: $0) }))
    }
}
