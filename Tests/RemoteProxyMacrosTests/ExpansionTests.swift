// What is written for protocols that can be remote.

import Testing

@testable import RemoteProxyMacros

struct ExpansionTests {
    @Test func `a protocol becomes a proxy, and a method table`() {
        let expanding = Expanding(
            """


            /// Arithmetic.
            @Service(errors: ArithmeticFailure.self)
            public protocol Calculator: Sendable {
                /// Adds.
                func add(_ a: Int, to b: [Int?]) async throws -> Int
                func note(_ text: String)
                func reset() async throws
                @ReadOnly var total: Int { get async throws }
            }
            """, attribute: "@Service(errors: ArithmeticFailure.self)")
        #expect(expanding.messages == [])
        #expect(expanding.expansion.expandedSource == Golden.calculator)
        let refinement = Expanding(expanding.source, as: "extension")
        #expect(refinement.messages == [])
        #expect(refinement.expansion.expandedSource == Golden.refinement)
    }

    @Test func `what is refused, nested or no protocol has nothing for services that refine it`() {
        for source in [
            "protocol P { func f() async throws }", "protocol P: Sendable { func f() throws }", "struct P {}",
        ] {
            let refinement = Expanding(source, as: "extension")
            #expect(refinement.expansion.expandedSource == "")
            #expect(refinement.messages == [])
        }
        let nested = Expanding("public protocol P: Sendable {}", as: "extension", inside: ["public enum Outer {}"])
        #expect(nested.expansion.expandedSource == "")
    }

    @Test func `a function that is only async is a post whose object is awaited`() {
        let expanding = Expanding("protocol P: Sendable { func note(_ text: String, at line: Int) async }")
        #expect(expanding.messages == [])
        #expect(
            expanding.lines(with: "func note") == [
                "nonisolated(nonsending) func note(_ text: String, at line: Int) async {"
            ])
        #expect(
            expanding.lines(with: "_post(") == [
                "await Self.Methods.note._post(self.proxySubject, (text: text, line: line))"
            ])
        #expect(expanding.lines(with: "isAsync") == ["isAsync: true, proxy: { PProxy(subject: $0).asService },"])
        #expect(expanding.lines(with: "service.note") == ["await service.note(arguments.text, at: arguments.line)"])
    }

    @Test func `parameters keep their labels outside and their names on the wire`() {
        let expanding = Expanding(
            "protocol P: Sendable { func f(_ a: Int, in b: Int, c: Int, `let` d: Int, `for`: Int) async throws }")
        #expect(
            expanding.lines(with: "func f") == [
                "nonisolated(nonsending) func f(_ a: Int, in b: Int, c: Int, `let` d: Int, for: Int) async throws {"
            ])
        #expect(
            expanding.lines(with: "service.f") == [
                "try await service.f(arguments.a, in: arguments.b, c: arguments.c, `let`: arguments.d, for: arguments.`for`)"
            ])
        #expect(
            expanding.lines(with: "parameters:") == [
                #""f", of: service, parameters: ["a": "Int", "b": "Int", "c": "Int", "d": "Int", "for": "Int"],"#
            ])
        #expect(
            expanding.lines(with: "write: {") == [
                "write: { try $1.write($0.a); try $1.write($0.b); try $1.write($0.c); try $1.write($0.d); try $1.write($0.`for`) })) {"
            ])
    }

    @Test func `overloads are told apart by their full names, and only overloads`() {
        let expanding = Expanding(
            """
            protocol P: Sendable {
                func add(_ a: Int, to b: Int) async throws
                func add()
                var add: Int { get async throws }
                func single(_ a: Int, to b: Int)
            }
            """)
        #expect(expanding.messages == [])
        #expect(
            expanding.lines(with: ", of: service").map { String($0.prefix { $0 != "," }) } == [
                "\"add(_:to:)\"", "\"add()\"", "\"add\"", "\"single\"",
            ])
        #expect(
            expanding.lines(with: "[Methods.") == [
                "Methods.service, [Methods.`add(_:to:)`, Methods.`add()`, Methods.add, Methods.single]) {"
            ])
    }

    @Test func `generated names keep away from names in the protocol`() {
        let expanding = Expanding(
            "protocol P: Sendable { func service(_ m: Methods) async throws }")
        #expect(expanding.lines(with: "enum Methods") == ["nonisolated enum Methods_ {"])
        #expect(expanding.lines(with: "static let service_").count == 1)
    }

    @Test(arguments: [
        ("public ", "public ", "public "), ("package ", "package ", "package "), ("internal ", "", ""), ("", "", ""),
        ("fileprivate ", "fileprivate ", ""), ("private ", "private ", ""),
        ("nonisolated public ", "public nonisolated ", "public "),
    ])
    func `the proxy is as accessible as its protocol`(modifiers: String, type: String, member: String) {
        let expanding = Expanding("\(modifiers)protocol P: Sendable { func f() }")
        #expect(expanding.lines(with: "struct PProxy") == ["\(type)struct PProxy: P, RemoteProxy.ServiceProxy {"])
        #expect(expanding.lines(with: "func f()") == ["\(member)func f() {"])
    }

    @Test func `in a public extension the members are public and the proxy is by itself`() {
        let expanding = Expanding("protocol P: Sendable { func f() }", inside: ["public extension Outer {}"])
        #expect(expanding.lines(with: "struct PProxy") == ["struct PProxy: P, RemoteProxy.ServiceProxy {"])
        #expect(expanding.lines(with: "func f()") == ["public func f() {"])
    }

    @Test func `documentation of every form is carried over, other comments are not`() {
        let expanding = Expanding(
            """
            // Not this.
            /// One line,
            /// and another.
            protocol P: Sendable { // nor this
                /** A block
                    on lines. */
                func f() /// f's own
                /// Of g.
                /* not this */
                @discardableResult
                func g() async throws -> Int
            }
            """)
        #expect(
            expanding.expansion.expandedSource.hasPrefix(
                "/// One line,\n/// and another.\n@RemoteProxy._OtherConformer\nstruct PProxy"))
        #expect(expanding.expansion.expandedSource.contains("    /** A block\n    on lines. */\n    func f() {"))
        #expect(
            expanding.expansion.expandedSource.contains(
                "    /// Of g.\n    @discardableResult\n    nonisolated(nonsending) func g() async throws -> Int {"))
        #expect(!expanding.expansion.expandedSource.contains("this"))
    }

    @Test func `global actors isolate posts and leave calls where their callers are`() {
        let expanding = Expanding(
            "@MainActor protocol P: Sendable { @MainActor func f(); @MainActor func g() async throws }")
        #expect(expanding.expansion.expandedSource.hasPrefix("@MainActor\n@RemoteProxy._OtherConformer\nstruct PProxy"))
        #expect(expanding.expansion.expandedSource.contains("    @MainActor\n    func f() {"))
        #expect(expanding.expansion.expandedSource.contains("\n\n    nonisolated(nonsending) func g() async throws {"))
    }

    @Test(arguments: [
        ("", true), ("internal", true), ("fileprivate", true), ("private", true), ("package", false),
        ("public", false), ("@usableFromInline", false),
    ])
    func `a proxy that the optimiser would overlook asks for another conformer`(access: String, asks: Bool) {
        let expanding = Expanding("\(access) protocol P: Sendable { func f() }")
        #expect(expanding.lines(with: "@RemoteProxy._OtherConformer").count == (asks ? 1 : 0))
    }

    @Test func `a requirement that only some versions have is listed only there`() {
        let expanding = Expanding(
            "protocol P: Sendable { @available(macOS 15, iOS 18, *) func f(); @available(swift 6) func g() }")
        #expect(
            expanding.lines(with: "entries.append") == [
                "if #available(macOS 15, iOS 18, *) { entries.append(Methods.f) }", "entries.append(Methods.g)",
            ])
        #expect(expanding.lines(with: "@available(macOS 15, iOS 18, *)").count == 3)
    }

    @Test func `what is deprecated is deprecated wherever it is mentioned`() {
        let expanding = Expanding(
            #"protocol P: Sendable { @available(*, deprecated, message: "use \" g") func f() }"#)
        #expect(expanding.lines(with: #"@available(*, deprecated, message: "use \" g")"#).count == 3)
        #expect(expanding.lines(with: "It lists deprecated methods").count == 1)
    }

    @Test func `marks reach the method table and nothing else`() {
        let expanding = Expanding(
            """
            protocol P: Sendable {
                @ReadOnly func a() async throws -> Int
                @RemoteProxy.Idempotent @MainActor
                func b(_ x: Int)
                @Idempotent() var c: Int { get async throws }
                @Other.ReadOnly func d()
            }
            """)
        #expect(expanding.messages == [])
        #expect(
            expanding.lines(with: ", of: service") == [
                #""a", of: service, result: "Int", effect: .readOnly,"#,
                #""b", of: service, parameters: ["x": "Int"], effect: .idempotent,"#,
                #""c", of: service, result: "Int", effect: .idempotent,"#,
                #""d", of: service,"#,
            ])
        #expect(expanding.lines(with: "ReadOnly") + expanding.lines(with: "@Idempotent") == [])
    }

    @Test func `method names are spelled as entries of the table, and are names on the wire`() {
        let expanding = Expanding(
            "protocol `for`: Sendable { func a(_ x: Int); func a(y: Int); func `in`(); func name(); func String() }")
        #expect(
            expanding.lines(with: "{ Self(name") == [
                #"static var `a(_:)`: Self { Self(name: "a(_:)") }"#,
                #"static var `a(y:)`: Self { Self(name: "a(y:)") }"#,
                #"static var `in`: Self { Self(name: "in") }"#, #"static var name: Self { Self(name: "name") }"#,
                #"static var String: Self { Self(name: "String") }"#,
            ])
    }

    @Test(arguments: ["Other.MethodName", "[Other.MethodName.Kind]", "MethodNames", "Other.ProxiedService"])
    func `a type that is qualified cannot be taken for one of the proxy's`(type: String) {
        let source = "protocol P: Sendable { func MethodNames(MethodName: \(type)) async throws -> \(type) }"
        #expect(Expanding(source, attribute: "@Service(errors: \(type).self)").messages == [])
    }

    @Test func `a class-bound protocol has a class for a proxy`() {
        #expect(
            Expanding("protocol P: AnyObject, Sendable {}").lines(with: "class PProxy") == [
                "final class PProxy: P, RemoteProxy.ServiceProxy {"
            ])
    }

    @Test func `protocols that only the compiler knows are inherited with a word of warning`() {
        let expanding = Expanding("protocol P: Marker & Sendable, Module.Other {}")
        #expect(expanding.messages == [])
        #expect(
            expanding.lines(with: "struct PProxy") == [
                "struct PProxy: P, RemoteProxy.ServiceProxy {  // Marker, Module.Other: a protocol with requirements needs "
                    + "@Service too. What two of them require has to be declared in 'P'."
            ])
        #expect(
            expanding.lines(with: "inheriting:") == [
                "Methods.service, [], inheriting: [PProxy._inherit((any Marker).self) { $0 }, "
                    + "PProxy._inherit((any Module.Other).self) { $0 }]) {"
            ])
    }

    @Test func `errors are repeated as they are written, each under that name`() {
        let expanding = Expanding(
            "protocol P: Sendable {}",
            attribute: "@RemoteProxy.Service(\n  errors: A.self, // one\n  B.C<Int, Int>.self,\n)")
        #expect(
            expanding.lines(with: "_ServiceDescription") == [
                #"static let service = RemoteProxy._ServiceDescription("P", "#
                    + #"errors: ["A": A.self, "B.C<Int, Int>": B.C<Int, Int>.self])"#
            ])
    }

    @Test func `types and names reach discovery as written, with even spacing and no comments`() {
        let expanding = Expanding(
            "protocol P: Sendable { func f(_ a: [ String /* key */:Result<Int,Failure> ]?, `b c`: A . B) async throws -> ( Int ) }"
        )
        #expect(
            expanding.lines(with: "parameters:") == [
                #""f", of: service, parameters: ["a": "[String: Result<Int, Failure>]?", "b c": "A.B"], result: "(Int)","#
            ])
    }

    @Test func `comments and strings cannot be taken for Swift`() {
        let expanding = Expanding(
            ##"""
            @Tag("}\("}" + #"\#("}")"#)", """
            } " \(") }")
            """, #"}""#) /* } /* } */ } */ protocol P: Sendable { // }
                func f(_ a: Int /* ) */) async throws -> /* { */ Int
            }
            """##)
        #expect(expanding.messages == [])
        #expect(expanding.lines(with: "func f") == ["nonisolated(nonsending) func f(_ a: Int) async throws -> Int {"])
    }
}
