// What is written for parameters and results with objects in them.

import Testing

@testable import RemoteProxyMacros

struct ObjectExpansionTests {
    private static let rule = "  // Objects are sent by reference, so the protocol after 'any' needs @Service."

    @Test func `an object is read and written as a reference`() {
        let expanding = Expanding(
            "protocol P: Sendable { func f(_ a: any Book, in b: [String: [(any A.Book)?]]?, `for`: Int) async throws -> [any P] }"
        )
        #expect(expanding.messages == [])
        #expect(
            expanding.lines(with: "{ let a") == [
                "read: { let a: any Book = (try $0.next() as _Object_Book).object; "
                    + "let b: [String: [(any A.Book)?]]? = "
                    + "(try $0.next() as [String: [_Object_A_Book?]]?)"
                    + ".map { $0.mapValues { $0.map { $0.map { $0.object } } } }; "
                    + "let `for`: Int = try $0.next(); return (a, b, `for`) },"
            ])
        #expect(
            expanding.lines(with: "write:") == [
                "write: { try $1.write(_Object_Book($0.a)); "
                    + "try $1.write($0.b.map { $0.mapValues { $0.map { $0.map { _Object_A_Book($0) } } } }); "
                    + "try $1.write($0.`for`) })"
            ])
        #expect(
            expanding.lines(with: "sent:") == [
                "sent: { $0.map { _Object_P($0) } }, received: { (sent: [_Object_P]) in sent.map { $0.object } })"
            ])
        #expect(expanding.lines(with: "Method<any P").allSatisfy { $0.hasSuffix("[any P]>(") })
        #expect(
            expanding.lines(with: "parameters:") == [
                #""f", of: service, parameters: ["a": "any Book", "b": "[String: [(any A.Book)?]]?", "for": "Int"], "#
                    + #"result: "[any P]","#
            ])
    }

    @Test func `an object alone in a call, a post or a property is a reference too`() {
        let expanding = Expanding(
            "protocol P: Sendable { func f(_ a: (any Book)?); var g: any A.`class` { get async throws }; func h(_ a: Int) }"
        )
        #expect(expanding.messages == [])
        #expect(
            expanding.lines(with: "let a: (any") == [
                "read: { let a: (any Book)? = (try $0.next() as _Object_Book?).map { $0.object }; "
                    + "return a },"
            ])
        #expect(
            expanding.lines(with: "write:") == [
                "write: { try $1.write($0.map { _Object_Book($0) }) })",
                "write: { try $1.write($0) })) {",
            ])
        #expect(
            expanding.lines(with: "sent:") == [
                "sent: { _Object_A_class($0) }, received: { (sent: _Object_A_class) in sent.object })"
            ])
        #expect(expanding.lines(with: "coding: RemoteProxy._ArgumentCoding<Swift.Void>.none").count == 1)
    }

    @Test(.enabled(if: CompilerRun.isPossible, "the built plugin, the RemoteProxy module or swiftc was not found"))
    func `an object of a protocol that is no service is told what to write, wherever its proxy is named`()
        async throws
    {
        let members = [
            "func f(_ a: any Plain) async throws", "func f(_ a: Int, b: [String: any Plain])",
            "func f() async throws -> [any Plain]?", "var f: any Plain { get async throws }",
            "func f(_ a: [any Plain], _ b: any Plain) async throws -> (any Plain)?",
        ]
        for member in members {
            let output = try await CompilerRun.run(
                """
                import RemoteProxy
                protocol Plain: Sendable {}
                @Service protocol Shop: Sendable {
                    \(member)
                }
                """)
            let errors = output.text.split(separator: "\n").filter { $0.contains(" error: ") }
            #expect(errors.count == 1)
            #expect(errors.allSatisfy { $0.hasSuffix("error: cannot find type 'PlainProxy' in scope") }, "\(errors)")
            let lines = output.text.split(separator: "\n").filter { $0.contains("<PlainProxy>") }
            #expect(
                lines.allSatisfy {
                    $0.hasSuffix(Self.rule)
                }, "\(lines)")
        }
    }

    @Test func `a closure is a service with one method`() {
        let expanding = Expanding(
            "protocol P: Sendable { func f(_ a: Int, done: @escaping @Sendable (Int, _ b: [A]) async throws -> Void) async throws }"
        )
        #expect(expanding.messages == [])
        let closure = "RemoteProxy.Reference<RemoteProxy._ClosureProxy<_Closure0_1>>"
        #expect(
            expanding.lines(with: "let done:") == [
                "read: { let a: Int = try $0.next(); let done: @Sendable (Int, _ b: [A]) async throws -> Void = "
                    + "(try $0.next() as \(closure)).object; return (a, done) },"
            ])
        #expect(
            expanding.lines(with: "write:").contains(
                "write: { try $1.write($0.a); try $1.write(\(closure)($0.done)) })"))
        #expect(
            expanding.lines(with: "enum _Closure0_1").first == "enum _Closure0_1: RemoteProxy._ClosureShape {")
        #expect(
            expanding.lines(with: "typealias Closure").first
                == "typealias Closure = @Sendable (Int, _ b: [A]) async throws -> Void")
    }
}
