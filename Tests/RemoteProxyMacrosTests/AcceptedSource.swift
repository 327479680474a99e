// Every construct that may stand in a service, in one file that the compiler is given.

enum AcceptedSource {
    static let text = #"""
        public import RemoteProxy

        nonisolated public struct ArithmeticFailure: Error, Codable {}
        /// Arithmetic.
        @Service(errors: ArithmeticFailure.self)
        public protocol Calculator: Sendable {
            /// Adds.
            func add(_ a: Int, _ b: Int) async throws -> Int
            func note(_ text: String)
            func reset() async throws
            var total: Int { get async throws }
            func maybe(_ a: Int?, in b: [String: [Double?]]?) async throws -> Int?
        }

        @globalActor actor Db { static let shared = Db() }

        @Service
        @MainActor
        public protocol View: Sendable {
            func display(_ text: String, at line: Int)
            func clear()
            func ask(_ q: String) async throws -> Bool
            var title: String { get async throws }
        }
        @MainActor final class RealView: View {
            func display(_ text: String, at line: Int) {}
            func clear() {}
            func ask(_ q: String) async throws -> Bool { true }
            var title: String { get async throws { "" } }
        }
        @MainActor func useIt() { let v: any View = ViewProxy(RealView()); v.display("a", at: 1); v.clear() }
        nonisolated func useIt2(_ v: any View) async throws { let p = ViewProxy(v); _ = p.asService; await p.clear(); _ = try await p.ask("") }

        @Service
        @Db protocol Store: Sendable {
            func put(_ text: String)
            func get() async throws -> String
        }
        @Service
        protocol Mixed: Sendable {
            @MainActor func show(_ text: String)
            @Db func put(_ text: String)
            @MainActor func ask() async throws -> Int
            @Db var x: Int { get async throws }
            func plain()
            func over(_ a: Int)
            func over(_ a: Int, b: Int)
            func over(_ a: Int, c: String) async throws -> Int
            func over()
            @concurrent func conc() async throws
            nonisolated(nonsending) func nons() async throws
            nonisolated func non()
            nonisolated var nonp: Int { get async throws }
        }
        @Service nonisolated protocol Non: Sendable {
            func plain()
            func call() async throws -> Int
        }
        @Service protocol Sub: Sendable {
        }
        @Service protocol Bound: AnyObject, Sendable {
            func plain(a: Int)
            func call() async throws -> Int
        }
        @Service @MainActor protocol BoundMain: AnyObject, Sendable {
            func plain(a: Int)
            func call() async throws -> Int
        }
        @Service protocol Nothing: Sendable {}

        nonisolated struct A: Codable, Sendable { nonisolated struct B: Codable, Sendable { nonisolated struct C<T: Codable & Sendable>: Codable, Sendable { let t: T } } }
        typealias UserID = String
        typealias MaybeInt = Int?
        nonisolated struct Methods: Codable, Sendable {}
        nonisolated struct AddArguments: Codable, Sendable {}
        nonisolated enum Failure: Error, Codable { case a }
        nonisolated enum Space { nonisolated enum Failure2: Error, Codable { case a } }

        @Service(errors: Failure.self, Space.Failure2.self,)
        protocol Weird: Sendable {
            func add(_ m: Methods, x: AddArguments) async throws -> Methods
            func ids(_ id: UserID, _ o: MaybeInt, _ p: Optional<Int>) async throws -> MaybeInt
            func reader(_ reader: Int, writer: Int, service: Int, arguments: Int, proxySubject: Int) async throws
            func service(_ write: Int, init: Int, next: String, deliver: String)
            func `in`(_ `in`: Int, `for`: Int, while x: Int) async throws -> Int
            func `class`()
            func label(protocol: String, init: Int, func: Int) async throws
            func labels(init: Int, `class`: Int, extension: Int)
            func more(case a: Int, import: Int, operator: Int, subscript: Int, static: Int, struct: Int, enum: Int) async
            func most(typealias: Int, associatedtype: Int, deinit: Int, precedencegroup: Int, import: Int) async throws
            func `say hello`(_ `who is`: String) async throws -> String
            func type(of type: String, `self` x: Int) async throws
            func nest(_ a: A.B.C<[A.B?]>, _ b: [String: [A.B.C<Int>]], _ c: Optional<Array<Dictionary<String, Int>>>) async throws -> [A.B.C<String?>]
            func größe(_ 名前: String, 🎉: Int) async throws -> (Int)
            func parens(_ a: (Int), _ b: ((String))?) -> Void
            func paren2() -> ()
            func paren3() async throws -> Void
            func paren4() async throws -> Swift.Void
            func sw(_ a: Swift.Int, _ b: Swift.Array<Swift.String>) async throws -> Swift.String
            func te() async throws(any Error) -> Int
            func te2() async throws(any Swift.Error)
            /* comment /* nested */ */ func com(/* a */ _ a: /* b */ Int /* c */, // d
                b: [ String /* x */ : Int ] // e
            ) /* f */ async /* g */ throws /* h */ -> /* i */ Int // j
            @discardableResult func disc() async throws -> Int
            typealias Local = [Int]
            func loc(_ a: Local) async throws -> Local
            var `protocol`: Int { get async throws }
            var over: Int { get async throws }
            func over(_ a: Int) async throws -> Int
            func over(a: Int) async throws -> Int
            func any(_ any: String) async throws
            func Int(_ a: Int) async throws -> Int; func semi(); func semi2()
            func async() async throws -> Int
            func get(_ get: Int) async throws -> [Int: [Int: [Int: [Int: Int?]?]?]?]?
            func multi(_ a: Int,
                       _ b: Int
            ) async throws
                -> Int
        }
        public enum Outer {
            @Service(name: "outer.Inner", errors: Failure.self, Outer.Failure.self)
            public protocol Inner: Sendable { func f(_ i: Local) async throws -> Int
              func g() }
            nonisolated public struct Local: Codable, Sendable {}
            nonisolated public enum Failure: Error, Codable { case b }
        }
        @Service(name: "Renamed") protocol Named: Sendable { func f() }
        @Service fileprivate protocol Top1: Sendable { func f(_ x: Int) async throws -> Int
              func g() }
        @Service private protocol Top2: Sendable { func f(_ x: Int) async throws -> Int
              func g() }
        @Service package protocol Top3: Sendable { func f(_ x: Int) async throws -> Int
              func g() }
        @Service internal protocol Top4: Sendable { func f(_ x: Int) async throws -> Int
              func g() }
        @Service @usableFromInline protocol Top5: Sendable { func f(_ x: Int) async throws -> Int
              func g() }
        @Service @usableFromInline internal protocol Top6: AnyObject, Sendable { func f(_ x: Int) async throws -> Int
              func g() }
        public enum Pub {}
        public extension Pub {
        @Service protocol InExt: Sendable { func f(_ x: Int) async throws -> Int
              func g() }
        }
        @Service protocol `class`: Sendable { func f() }
        @RemoteProxy.Service protocol Marked: Marker, Sendable & AnyObject { func f() }
        protocol Marker {}
        @Service protocol Ledger: Sendable {
            /// Documented.
            @ReadOnly func read(_ a: Int) async throws -> Int
            @RemoteProxy.ReadOnly var total: Int { get async throws }
            @Idempotent @discardableResult func put(_ a: Int) async throws -> Int
            @MainActor @Idempotent() func show(_ a: Int)
            @available(*, deprecated) @ReadOnly func old()
            func over(_ a: Int)
            @Idempotent func over(b: Int)
            nonisolated func weak(_ object: Int)
            func name() async throws -> Outer.MethodName
            func String(_ hash: Int) async throws
            func add(_ a: Client.ProxiedService) async throws
        }
        nonisolated enum ProxiedService: Codable, Sendable { case a }
        extension Outer { nonisolated enum MethodName: Codable, Sendable { case a } }
        actor RealLedger: Ledger {
            func read(_ a: Int) async throws -> Int { a }
            var total: Int { get async throws { 1 } }
            func put(_ a: Int) async throws -> Int { a }
            @MainActor func show(_ a: Int) {}
            nonisolated func old() {}
            nonisolated func over(_ a: Int) {}
            nonisolated func over(b: Int) {}
            nonisolated func weak(_ object: Int) {}
            func name() async throws -> Outer.MethodName { .a }
            func String(_ hash: Int) async throws {}
            func add(_ a: ProxiedService) async throws {}
        }
        nonisolated func name<Proxy: ServiceProxy>(_ name: Proxy.MethodName, of proxy: Proxy) -> Swift.String { name.name }
        nonisolated func useLedger(_ ledger: RealLedger, _ bound: any Bound & AnyObject) async throws {
            let proxy = LedgerProxy.weak(ledger)
            proxy.weak(1)
            _ = [name(.weak, of: proxy), name(.`over(b:)`, of: proxy), name(.init(name: "x"), of: proxy)]
            let weakly: any Bound = BoundProxy.weak(bound)
            _ = weakly
        }
        @MainActor func useWeakly(_ view: RealView) { ViewProxy.weak(view).clear() }
        @MainActor func useWeakly(_ view: any BoundMain) { BoundMainProxy.weak(view).plain(a: 1) }

        let z = [Outer.InnerProxy._methodTable.signatures, classProxy._methodTable.signatures]

        @available(*, deprecated, message: "use that")
        @Service protocol Old: Sendable { func f(_ x: Int) async throws -> Int
              func g() }
        @available(macOS 15, iOS 18, *)
        @Service protocol New: Sendable { func f(_ x: Int) async throws -> Int
              func g() }
        @Service protocol Part: Sendable {
           @available(*, deprecated, message: "use g") func f(_ x: Int) async throws -> Int
           @available(*, deprecated, renamed: "h()") func g()
           @available(*, deprecated) var p: Int { get async throws }
           @available(macOS 15, *) func h() 
           @available(swift 5.0) func i() 
           }
        protocol Quiet: Sendable {}
        @Service protocol Wide: Mixed, Quiet { func wide() async throws }
        @Service public protocol WidePost: Sendable { func sent(_ x: Int) async }
        @Service public protocol WideOpen: WidePost { func open(_ x: Int) async throws -> Int }

        @Service protocol Book: Sendable {
            func parent() async throws -> any Book
            func parts() async throws -> [String: [any Book]]
            func put(_ book: (any Book)?, into shelf: any Shelf)
        }
        @Service protocol Shelf: Sendable {
            func book(_ title: String) async throws -> (any Book)?
            func lend(_ book: any Book, to inner: any Outer.Inner) async throws
            var books: [any Book] { get async throws }
            var newest: (any Client.Book)? { get async throws }
            @ReadOnly var views: [[String: any View]?] { get async throws }
            func put(_ `in`: any Book, `for`: [any Book]?, init: (any Book)?)
            func put(_ books: [String: any Book])
            func put(later books: [[any Book]]) async
            func put(_ books: [any Book], by reader: Int?) async throws -> [any Book]?
            func sort(_ books: [Swift.Int: [UserID: (any Book)?]], _ more: [[any Book]?]) async throws -> [[any Book]]
            func named(_ a: any `class`, _ b: (any (Book)), _ c: any Client.`class`) async throws -> any `class`
            @MainActor func show(_ view: any View)
            @discardableResult func store(_ `say hello`: [any Outer.Inner]) async throws -> [UserID: any Outer.Inner]
            func enclosed(_ books: Set<Int>, _ reference: Reference<BookProxy>) async throws -> [Reference<Outer.InnerProxy>]
        }
        """#
}
