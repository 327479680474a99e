// What keeps the optimiser from overlooking a proxy, and the refusal where nothing does.

import Testing

@testable import RemoteProxyMacros

struct OtherConformerTests {
    @Test func `the other conformer has the proxy's witnesses and no values`() {
        #expect(
            otherConformer(
                """
                @available(macOS 15, *)
                protocol Bell: Sendable {
                    func ask(_ text: String, in: [Int?]) async throws -> String
                    @MainActor func ring(`static` loud: Int)
                    var name: String { get async throws }
                }
                """) == """
                    @available(macOS 15, *)
                    extension BellProxy {
                        /// Never made. It keeps the optimiser from taking the only conformer it sees for every 'Bell'.
                        private enum OtherConformer<Unused>: Bell {
                            nonisolated(nonsending) func ask(_ text: String, in: [Int?]) async throws -> String {
                                switch self {}
                            }

                            @MainActor
                            func ring(static loud: Int) {
                                switch self {}
                            }

                            nonisolated(nonsending) var name: String {
                                get async throws { switch self {} }
                            }
                        }
                    }

                    """)
    }

    @Test func `the other conformer of a class protocol is a class, and isolated as the proxy is`() {
        #expect(
            otherConformer("nonisolated fileprivate protocol `class`: AnyObject, Sendable { func f() }") == """
                extension classProxy {
                    /// Never made. It keeps the optimiser from taking the only conformer it sees for every '`class`'.
                    private nonisolated final class OtherConformer<Unused>: `class` {
                        func f() {
                            Swift.fatalError()
                        }
                    }
                }

                """)
        #expect(otherConformer("protocol Nothing: Sendable {}").contains("OtherConformer<Unused>: Nothing {"))
    }

    @Test(arguments: ["", "protocol P {}", "struct", "struct PProxy: P {", "struct PProxy: P { init() {} }", "class"])
    func `what is no proxy gets no other conformer`(source: String) {
        #expect(OtherConformer(ofProxy: source)?.source == nil)
    }

    @Test(arguments: [
        ("protocol P: Sendable {}", ["enum Outer {}"]),
        ("fileprivate protocol P: Sendable {}", ["public enum Outer {}"]),
        ("protocol P: Sendable {}", ["extension Outer {}"]),
        ("public protocol P: Sendable {}", ["public struct Inner {}", "struct Outer {}"]),
        ("@usableFromInline protocol P: Sendable {}", ["struct Outer {}"]),
    ])
    func `a nested protocol that no other module sees is refused`(source: String, around: [String]) {
        let expanding = Expanding(source, inside: around)
        #expect(
            expanding.messages == [
                "1: 'P' must be at the top level or public: a Swift optimizer bug crashes release builds that use a nested, "
                    + "non-public service"
            ])
        #expect(expanding.words == ["P"])
        #expect(expanding.expansion.diagnostics.map(\.severity) == ["error"])
        #expect(expanding.lines(with: "because its protocol was refused").count == 1)
    }

    @Test(arguments: [
        ("protocol P: Sendable {}", []),
        ("private protocol P: Sendable {}", []),
        ("public protocol P: Sendable {}", ["public enum Outer {}"]),
        ("protocol P: Sendable {}", ["public extension Outer {}"]),
        ("package protocol P: Sendable {}", ["package final class Inner {}", "open class Outer {}"]),
        ("@usableFromInline protocol P: Sendable {}", ["@usableFromInline enum Outer {}"]),
    ])
    func `other protocols are not refused`(source: String, around: [String]) {
        #expect(Expanding(source, inside: around).messages == [])
    }

    /// As the compiler asks for it: with the source that `@Service` wrote.
    private func otherConformer(_ source: String) -> String {
        Macros.otherConformer(
            ExpansionRequest(
                macro: .init(typeName: "OtherConformerMacro"),
                attributeSyntax: .init(source: "@RemoteProxy._OtherConformer"),
                declSyntax: .init(source: Expanding(source).expansion.expandedSource))
        ).expandedSource
    }
}
