// What cannot be remote: source → the exact message, and the line and the word it points at.

import TestSupport
import Testing

@testable import RemoteProxyMacros

/// One member that is refused in a protocol that is otherwise fine.
struct Refusal: CustomTestStringConvertible {
    var member: String
    var message: String
    var word: String
    /// Whether the compiler takes it in a protocol without `@Service`.
    var isSwift: Bool

    init(_ member: String, at word: String, isSwift: Bool = true, _ message: String) {
        self.member = member
        self.word = word
        self.isSwift = isSwift
        self.message = message
    }

    var testDescription: String { member }
}

@Suite(.computesForLong) struct RefusalTests {
    static let members: [Refusal] = [
        // Effects.
        .init(
            "func add(_ a: Int) -> Int", at: "add",
            "'add' must be 'async throws', because a remote call takes time and can fail; write 'async throws -> Int'"
        ),
        .init(
            "func add() async -> Int", at: "add",
            "'add' must also throw, because a remote call can fail; write 'async throws'"),
        .init(
            "func add() throws", at: "add",
            "'add' must also be async, because a remote call takes time; write 'async throws', or 'async' alone for a "
                + "post, which no caller waits for"),
        .init(
            "func add() throws -> Int", at: "add",
            "'add' must also be async, because a remote call takes time; write 'async throws'"),
        .init(
            "func add() async throws(Overflow)", at: "add",
            "'add' cannot throw only Overflow, because the connection can fail too; write 'throws' and "
                + "'@Service(errors: Overflow.self)'"),
        .init(
            "func add() async throws(Never)", at: "add",
            "'add' cannot throw only Never, because the connection can fail too; write 'throws'"),
        .init(
            "func add(_ a: Int) rethrows", at: "add", isSwift: false,
            "'add' cannot be 'rethrows'; write 'async throws'"),
        // Properties.
        .init(
            "var total: Int { get }", at: "total",
            "'total' must be 'async throws', because a remote call takes time and can fail; write '{ get async throws }'"
        ),
        .init(
            "var total: Int { get async }", at: "total",
            "'total' must be 'async throws', because a remote call takes time and can fail; write '{ get async throws }'"
        ),
        .init(
            "var total: Int { get set }", at: "total",
            "'total' cannot be set remotely; write '{ get async throws }' and a function that sets it"),
        .init(
            "var pair: (Int, Int) { get async throws }", at: "pair", "'pair' cannot be a tuple; write a Codable struct"),
        // Kinds of members.
        .init(
            "static func make() async throws", at: "make",
            "'make' cannot be static: calls go to an object; remove 'static'"),
        .init(
            "static var shared: Int { get async throws }", at: "shared",
            "'shared' cannot be static: calls go to an object; remove 'static'"),
        .init(
            "static func + (a: Self, b: Self) -> Self", at: "",
            "'+' cannot be static: calls go to an object; remove 'static'"),
        .init("init(a: Int)", at: "init", "'init' cannot be remote; add a function that returns what it should make"),
        .init(
            "subscript(a: Int) -> Int { get }", at: "subscript",
            "'subscript' cannot be remote; write a function that is 'async throws'"),
        .init(
            "associatedtype Item: Codable", at: "Item",
            "associated type 'Item' cannot be remote; name a concrete type"),
        .init(
            "mutating func add()", at: "add",
            "'add' cannot be mutating: a proxy changes nothing in itself; remove 'mutating'"),
        .init(
            "#if DEBUG\n    func add()\n    #endif", at: "#if",
            "'#if' cannot stand in a service: both ends must see the same requirements; write two protocols"),
        .init("optional func add()", at: "add", isSwift: false, "'add' cannot be 'optional' in a service; remove it"),
        .init("@objc func add()", at: "add", isSwift: false, "'add' cannot be @objc; remove it"),
        .init(
            "@available(*, unavailable) func add()", at: "add", isSwift: false,
            "'add' can only have '@available' with versions or 'deprecated'; move it to another protocol"),
        .init(
            "@available(macOS, obsoleted: 12) func add()", at: "add", isSwift: false,
            "'add' can only have '@available' with versions or 'deprecated'; move it to another protocol"),
        .init(
            "@available(macOS, introduced: 12) func add()", at: "add", isSwift: false,
            "'add' can only have '@available' with versions or 'deprecated'; move it to another protocol"),
        .init(
            "@available(*, noasync) func add()", at: "add", isSwift: false,
            "'add' can only have '@available' with versions or 'deprecated'; move it to another protocol"),
        .init(
            "@ReadOnly @RemoteProxy.Idempotent func add() async throws", at: "add",
            "'add' is marked twice; keep @ReadOnly if it changes nothing, else @Idempotent"),
        // Names.
        .init(
            "func add(_ a: [MethodName?])", at: "add",
            "'add' uses the type 'MethodName', but every proxy has one of that name; write 'Module.MethodName' or rename yours"
        ),
        .init(
            "func add() async throws -> ProxiedService", at: "add",
            "'add' uses the type 'ProxiedService', but every proxy has one of that name; write 'Module.ProxiedService' or rename yours"
        ),
        .init(
            "func MethodName()", at: "MethodName",
            "'MethodName' cannot be the name of a requirement, because every proxy has a member of that name; rename it"
        ),
        .init(
            "func asService()", at: "asService",
            "'asService' cannot be the name of a requirement, because every proxy has a member of that name; rename it"),
        .init(
            "func `init`()", at: "`init`",
            "'init' cannot be the name of a requirement, because every proxy has a member of that name; rename it"),
        .init(
            "func add(_: Int)", at: "_",
            "'add' has a parameter without a name, but callers may send arguments by name; write '_ name: Type'"),
        .init("func add(a x: Int, b x: Int)", at: "x", "'add' has two parameters named 'x'; choose another name"),
        .init(
            "func add(_ `self`: Int)", at: "`self`", "'add' cannot have a parameter named 'self'; choose another name"),
        // Generics.
        .init(
            "func add<T: Codable>(_ a: T) async throws", at: "add",
            "'add' cannot be generic: both ends must know the types; name concrete types"),
        .init(
            "func add() async throws where Self: AnyObject", at: "add", isSwift: false,
            "'add' cannot be generic: both ends must know the types; name concrete types"),
        // Parameters.
        .init(
            "func add(_ a: inout Int)", at: "a",
            "parameter 'a' of 'add' cannot be inout: values are sent as copies; return the new value"),
        .init(
            "func add(_ a: consuming Int)", at: "a",
            "parameter 'a' of 'add' cannot be 'consuming': values are sent as copies; remove it"),
        .init(
            "func add(_ a: sending Int)", at: "a",
            "parameter 'a' of 'add' cannot be 'sending': values are sent as copies; remove it"),
        .init("func add(_ a: Int...)", at: "a", "parameter 'a' of 'add' cannot be variadic; write '[Int]'"),
        .init(
            "func add(_ a: Int = 1)", at: "a", isSwift: false,
            "parameter 'a' of 'add' cannot have a default value in a protocol; write an extension with a shorter function"
        ),
        .init(
            "func add(_ done: ((Int) -> Void)?)", at: "done",
            "parameter 'done' of 'add' cannot be a closure: only a parameter is one by itself; declare a second @Service with a "
                + "function for it"),
        .init("func add(_ a: (Int, Int))", at: "a", "parameter 'a' of 'add' cannot be a tuple; write a Codable struct"),
        .init(
            "func add(_ a: [String: [(x: Int, y: Int)?]])", at: "a",
            "parameter 'a' of 'add' cannot be a tuple; write a Codable struct"),
        .init("func add(_ a: Void)", at: "a", "parameter 'a' of 'add' cannot be a tuple; write a Codable struct"),
        .init(
            "func add(_ a: some Codable)", at: "a",
            "parameter 'a' of 'add' cannot be opaque: both ends must know the type; name a concrete type"),
        .init(
            "func add(_ a: Codable & Sendable)", at: "a",
            "parameter 'a' of 'add' cannot be a composition of protocols; name a concrete type"),
        .init(
            "func add(_ a: Int.Type)", at: "a",
            "parameter 'a' of 'add' cannot be a metatype; write an enum with a case for each type"),
        .init(
            "func add(_ a: [Self])", at: "a",
            "parameter 'a' of 'add' cannot be Self: the other end has another type; name a concrete type"),
        .init("func add(_ a: Int!)", at: "a", "parameter 'a' of 'add' cannot be implicitly unwrapped; write '?'"),
        .init(
            "func add(_ a: [3 of Int])", at: "a",
            "parameter 'a' of 'add' cannot be an inline array, which is not Codable; write '[Element]'"),
        .init(
            "func add(_ a: Any)", at: "a",
            "parameter 'a' of 'add' cannot be 'Any': both ends must know the type; name a concrete type"),
        // Results.
        .init(
            "func copy() async throws -> Self", at: "copy",
            "the result of 'copy' cannot be Self: the other end has another type; name a concrete type"),
        .init(
            "func pair() async throws -> (Int, Int)", at: "pair",
            "the result of 'pair' cannot be a tuple; write a Codable struct"),
        .init(
            "func ticks(every: Int) -> AsyncThrowingStream<Int, any Error>", at: "ticks",
            "the result of 'ticks' is a stream, which cannot be remote yet; return an array or take a position to go on from"
        ),
        // What nobody understands.
        .init(
            "func add", at: "", isSwift: false,
            "@Service cannot read this; a service consists of functions and properties without bodies"),
        .init(
            "func add() async throws {}", at: "", isSwift: false,
            "@Service cannot read this; a service consists of functions and properties without bodies"),
    ]

    @Test(arguments: members + Refusal.objects)
    func `a requirement that cannot be remote is refused with one message at its place`(_ refusal: Refusal) {
        let expanding = Expanding(
            """
            public protocol House: Sendable {
                func first(_ a: Int) async throws -> Int

                /// Documented.
                \(refusal.member)
            }
            """)
        #expect(expanding.messages.map { $0.drop { $0 != " " }.dropFirst() } == [refusal.message[...]])
        if refusal.message != "@Service cannot read this; a service consists of functions and properties without bodies"
        {
            #expect(expanding.messages.first?.hasPrefix("5: ") == true)
            #expect(expanding.words == [refusal.word])
        }
    }

    static let protocols: [(source: String, message: String)] = [
        (
            "protocol House {}",
            "1: 'House' must inherit Sendable, because tasks share proxies; write 'protocol House: Sendable'"
        ),
        (
            "@MainActor\nprotocol House: AnyObject {}",
            "2: 'House' must inherit Sendable, because tasks share proxies; write 'protocol House: AnyObject, Sendable'"
        ),
        (
            "protocol House: Actor {}",
            "1: 'House' cannot inherit Actor, because a proxy is not one; an actor can conform to it all the same"
        ),
        (
            "protocol House:\n    Sendable,\n    Hashable {}",
            "3: 'House' cannot inherit Hashable, because a proxy cannot do what it requires; remove it"
        ),
        (
            "protocol House: ~Copyable, Sendable {}",
            "1: 'House' cannot inherit ~Copyable, because a proxy cannot do what it requires; remove it"
        ),
        (
            "protocol House<Item>: Sendable { associatedtype Item }",
            "1: 'House' cannot be remote with primary associated types; name concrete types"
        ),
        (
            "protocol House where Self: Sendable {}",
            "1: 'House' cannot be remote with a where clause; list inherited protocols after the colon"
        ),
        (
            "protocol\nMethodName: Sendable {}",
            "2: 'MethodName' cannot be the name of a service, because every proxy has a type of that name; rename it"
        ),
        ("@objc protocol House: Sendable {}", "1: 'House' cannot be @objc; remove it"),
        ("struct House {}", "1: @Service can only be attached to a protocol"),
        ("@Service\nfinal class House {}", "1: @Service can only be attached to a protocol"),
        ("func house() {}", "1: @Service can only be attached to a protocol"),
        (
            "protocol House: Sendable { func f(",
            "1: @Service cannot read this; a service consists of functions and properties without bodies"
        ),
        (
            "protocol House: Sendable {\n func f(a: Int)\n func f(a: String)\n}",
            "3: 'f(a:)' has the name and the labels of another requirement, and types are no part of a method's name; change a label"
        ),
    ]

    @Test(arguments: protocols)
    func `a protocol that cannot be remote is refused with one message at its place`(source: String, message: String) {
        #expect(Expanding(source).messages == [message])
    }

    @Test func `a declared error that means something else in a proxy is refused at the attribute`() {
        let expanding = Expanding("\nprotocol House: Sendable {}", attribute: "@Service(errors: MethodName.self)")
        #expect(
            expanding.messages == [
                "1: 'errors:' uses the type 'MethodName', but every proxy has one of that name; write 'Module.MethodName' or rename yours"
            ])
    }

    @Test func `each bad requirement has its own message, in the order of the source`() {
        let expanding = Expanding(
            """
            protocol House {
                func one() async -> Int
                func two(_ a: inout Int, _ b: (Int, Int)) throws
                func three() async throws
                func four(
                func five() -> Int
            }
            """)
        #expect(expanding.words == ["House", "one", "a", "func", "five"])
    }

    @Test func `a type nested too deeply is refused and not followed`() {
        let type = String(repeating: "[", count: 100_000) + "Int" + String(repeating: "]", count: 100_000)
        let expanding = Expanding("protocol House: Sendable { func f(_ a: \(type)) }")
        #expect(
            expanding.messages == [
                "1: @Service cannot read this; a service consists of functions and properties without bodies"
            ])
    }

    @Test func `what is refused still has a proxy that conforms and can be exported`() {
        let expanding = Expanding(
            """
            public protocol House: AnyObject {
                mutating func change(_ a: inout Int) throws -> Self
                static var count: Int { get set }
                subscript(_ a: Int) -> Int { get async }
                init?(door: Int)
            }
            """)
        let expected = """
            // This proxy does nothing, because its protocol was refused.
            public final class HouseProxy: House, RemoteProxy.ServiceProxy {
                public typealias ProxiedService = any House & Swift.Sendable
                public nonisolated let proxySubject: any RemoteProxy.Subject<any House & Swift.Sendable>
                public nonisolated init(subject: any RemoteProxy.Subject<any House & Swift.Sendable>) { self.proxySubject = subject }
                public nonisolated var asService: any House & Swift.Sendable { self }
                public nonisolated static var _methodTable: RemoteProxy._MethodTable<any House & Swift.Sendable> { Swift.fatalError() }
                public nonisolated static func weak(_ object: any House & Swift.Sendable & Swift.AnyObject) -> Self { Swift.fatalError() }

                /// The names of House's methods, for code that names one without calling it.
                public nonisolated struct MethodName: RemoteProxy.ServiceMethodName {
                    public let name: Swift.String
                    public init(name: Swift.String) { self.name = name }

                    /// `change(_:)`.
                    public static var change: Self { Self(name: "change") }
                }

                public func change(_ a: inout Int) throws -> Self { Swift.fatalError() }
                static public var count: Int { get { Swift.fatalError() } set { Swift.fatalError() } }
                public subscript(_ a: Int) -> Int { get async { Swift.fatalError() } }
                public init?(door: Int) { Swift.fatalError() }
            }

            """
        #expect(expanding.expansion.expandedSource == expected)
    }
}
