// A service after the changes of the article "Changing a service", and a client that was built with it. `OldVersion` has the same
// names for what it was.

import RPCSockets
import RemoteProxy
import TestSupport

enum NewVersion {
    static func proxies() -> [any ServiceProxy] {
        [StockProxy(Shelves()), DepotProxy(Places()), RackProxy(Places())]
    }

    /// What the new client does, by the name of the change: a call that is right if the other end has changed too.
    static let calls: [String: OldVersion.Call] = [
        "a method is added": { try await StockProxy($0).added() == 1 },
        "a method is removed": { try await StockProxy($0).count == 1 },
        "a method gets another name": { try await StockProxy($0).laterName() == 1 },
        "a method gets an overload": { try await StockProxy($0).find(1) == 1 },
        "a label of an overload changes": { try await StockProxy($0).move(1, onto: 2) == 2 },
        "a method without parameters becomes a property": { try await StockProxy($0).count == 1 },
        "a call without a result becomes a post": { client in
            StockProxy(client).note("x")
            await until { (try? await StockProxy(client).notes()) == ["x"] }
            return true
        },
        "a mark is added or removed": { try await StockProxy($0).marked() == 1 },
        "the protocol gets another name": { try await DepotProxy($0).count() == 1 },
        "the protocol gets another name, and `@Service(name:)` keeps the former": {
            try await RackProxy($0).count() == 1
        },

        "a label or the name of a parameter changes": { try await StockProxy($0).take(7) == 7 },
        "an optional parameter is added at the end": { try await StockProxy($0).order(7, from: nil) == 7 },
        "a parameter that is not optional is added": { try await StockProxy($0).ship(7, to: 1) == 7 },
        "the last parameter is removed": { try await StockProxy($0).send(7) == 7 },
        "the last parameter is removed, and was optional": { try await StockProxy($0).pack(7) == 7 },
        "two parameters of one type change places": { try await StockProxy($0).swap(2, 1) == 1 },
        "a parameter's type changes from `Int` to `Double`": { try await StockProxy($0).weigh(7) == 7 },
        "a parameter becomes optional": { try await StockProxy($0).label(7) == 7 },
        "a parameter's type changes from `Int` to `String`": { try await StockProxy($0).code("7") == 7 },

        "a result is added": { try await StockProxy($0).clear() == 1 },
        "a result is removed": {
            try await StockProxy($0).reset()
            return true
        },
        "a result becomes optional, and is nil": { try await StockProxy($0).first() == 1 },
        "a result becomes optional, and is not nil": { try await StockProxy($0).last() == 1 },
        "a result's type changes from `Int` to `String`": { try await StockProxy($0).price() == "1" },

        "a struct or an enum gets another name": { try await StockProxy($0).named(Article(name: "x")).name == "x" },
        "an optional field is added or removed": {
            let answer = try await StockProxy($0).optional(Pair(kept: 1, added: 2))
            return answer.kept == 1 && answer.added == nil
        },
        "a field is added to an argument": { try await StockProxy($0).grown(Item(name: "x", size: 1)) == 1 },
        "a field is added to a result": { try await StockProxy($0).grownResult().size == 1 },
        "a field is removed from an argument": { try await StockProxy($0).shrunk(Crate(name: "x")) == 1 },
        "a field is removed from a result": { try await StockProxy($0).shrunkResult().name == "x" },
        "a field gets another name, and `CodingKeys` keep the former": {
            try await StockProxy($0).keyed(Product(title: "x")).title == "x"
        },
        "a case is added to an enum, and is an argument": { try await StockProxy($0).paint(.blue) == 1 },
        "a case is added to an enum, and is a result": { try await StockProxy($0).painted() == .red },
        "a case is added to an `UnknownCaseRepresentable` enum, and is an argument": {
            try await StockProxy($0).light([.red, .green]) == 2
        },
        "a case is added to an `UnknownCaseRepresentable` enum, and is a result": {
            try await StockProxy($0).lit() == [.red]
        },
        "a value is added to a struct of raw values": { try await StockProxy($0).shaped(.square).rawValue == "square" },

        "a listed error gets a case, and is thrown with it": {
            try await caught { try await StockProxy($0).failWithCase() }($0)
        },
        "an error's type is listed": { try await caught { try await StockProxy($0).failWithListed() }($0) },
        "an error's type is no longer listed": { try await caught { try await StockProxy($0).failWithUnlisted() }($0) },
        "a listed error's type gets another name": {
            try await caught { try await StockProxy($0).failWithRenamed() }($0)
        },
    ]

    /// Calls with values for which an old server has no place.
    static let refused: [OldVersion.Call] = [
        { try await StockProxy($0).weigh(1.5) == 1 }, { try await StockProxy($0).label(nil) == 0 },
        { try await StockProxy($0).order(7, from: 1) == 0 },
    ]

    /// Reserves something, with a server of either version.
    static func reserved(at url: Endpoint) async throws -> String {
        let client = RPCClient(url, .patient)
        defer { client.close() }
        let stock = StockProxy(client)
        if try await stock.supports(.reserve) {
            return try await stock.reserve(7)
        } else {
            stock.note("reserve 7")
            return "noted"
        }
    }

    private static func caught(_ call: @escaping @Sendable (RPCClient) async throws -> Void) -> OldVersion.Call {
        { client in
            do { try await call(client) } catch is StockFailure { return true } catch is EarlyFailure {
                return true
            } catch is LaterFailure { return true }
            return false
        }
    }
}

private struct Article: Codable, Sendable {
    var name: String
}

private struct Item: Codable, Sendable {
    var name: String
    var size: Int
}

private struct Crate: Codable, Sendable {
    var name: String
}

private struct Product: Codable, Sendable {
    var title: String

    enum CodingKeys: String, CodingKey {
        case title = "name"
    }
}

private struct Pair: Codable, Sendable {
    var kept: Int
    var added: Int?
}

private enum Colour: String, Codable, Sendable {
    case red, blue
}

private enum Light: String, Codable, Sendable, UnknownCaseRepresentable {
    case red, green, unknown
    static let unknownCase = Light.unknown
}

private struct Shape: RawRepresentable, Codable, Sendable {
    var rawValue: String
    static let round = Shape(rawValue: "round")
    static let square = Shape(rawValue: "square")
}

private enum StockFailure: Error, Codable, Sendable {
    case empty, locked
}

private enum EarlyFailure: Error, Codable, Sendable {
    case closed
}

/// Was listed.
private enum LateFailure: Error {
    case closed
}

private enum LaterFailure: Error, Codable, Sendable {
    case closed
}

@Service(errors: StockFailure.self, EarlyFailure.self, LaterFailure.self)
private protocol Stock: Sendable {
    func added() async throws -> Int
    func reserve(_ number: Int) async throws -> String
    func laterName() async throws -> Int
    func find(_ number: Int) async throws -> Int
    func find(named name: String) async throws -> Int
    func move(_ from: Int, onto: Int) async throws -> Int
    func move(_ from: Int) async throws -> Int
    var count: Int { get async throws }
    func note(_ text: String)
    func notes() async throws -> [String]
    @ReadOnly func marked() async throws -> Int

    func take(_ number: Int) async throws -> Int
    func order(_ count: Int, from place: Int?) async throws -> Int
    func ship(_ count: Int, to place: Int) async throws -> Int
    func send(_ count: Int) async throws -> Int
    func pack(_ count: Int) async throws -> Int
    func swap(_ other: Int, _ one: Int) async throws -> Int
    func weigh(_ weight: Double) async throws -> Int
    func label(_ number: Int?) async throws -> Int
    func code(_ text: String) async throws -> Int

    func clear() async throws -> Int
    func reset() async throws
    func first() async throws -> Int?
    func last() async throws -> Int?
    func price() async throws -> String

    func named(_ item: Article) async throws -> Article
    func optional(_ pair: Pair) async throws -> Pair
    func grown(_ item: Item) async throws -> Int
    func grownResult() async throws -> Item
    func shrunk(_ crate: Crate) async throws -> Int
    func shrunkResult() async throws -> Crate
    func keyed(_ item: Product) async throws -> Product
    func paint(_ colour: Colour) async throws -> Int
    func painted() async throws -> Colour
    func light(_ lights: [Light]) async throws -> Int
    func lit() async throws -> [Light]
    func shaped(_ shape: Shape) async throws -> Shape

    func failWithCase() async throws
    func failWithListed() async throws
    func failWithUnlisted() async throws
    func failWithRenamed() async throws
}

@Service(name: "central.Depot")
private protocol Depot: Sendable {
    func count() async throws -> Int
}

@Service(name: "Bin")
private protocol Rack: Sendable {
    func count() async throws -> Int
}

private struct Shelves: Stock {
    let written = Lock<[String]>([])

    func added() async throws -> Int { 1 }
    func reserve(_ number: Int) async throws -> String { "reserved" }
    func laterName() async throws -> Int { 1 }
    func find(_ number: Int) async throws -> Int { number }
    func find(named name: String) async throws -> Int { 0 }
    func move(_ from: Int, onto: Int) async throws -> Int { onto }
    func move(_ from: Int) async throws -> Int { from }
    var count: Int { get async throws { 1 } }
    func note(_ text: String) { written.withLock { $0.append(text) } }
    func notes() async throws -> [String] { written.withLock { $0 } }
    func marked() async throws -> Int { 1 }

    func take(_ number: Int) async throws -> Int { number }
    func order(_ count: Int, from place: Int?) async throws -> Int { place == nil ? count : 0 }
    func ship(_ count: Int, to place: Int) async throws -> Int { count }
    func send(_ count: Int) async throws -> Int { count }
    func pack(_ count: Int) async throws -> Int { count }
    func swap(_ other: Int, _ one: Int) async throws -> Int { one }
    func weigh(_ weight: Double) async throws -> Int { Int(weight) }
    func label(_ number: Int?) async throws -> Int { number ?? 0 }
    func code(_ text: String) async throws -> Int { 0 }

    func clear() async throws -> Int { 1 }
    func reset() async throws {}
    func first() async throws -> Int? { nil }
    func last() async throws -> Int? { 1 }
    func price() async throws -> String { "1" }

    func named(_ item: Article) async throws -> Article { item }
    func optional(_ pair: Pair) async throws -> Pair { pair }
    func grown(_ item: Item) async throws -> Int { 1 }
    func grownResult() async throws -> Item { Item(name: "x", size: 1) }
    func shrunk(_ crate: Crate) async throws -> Int { 1 }
    func shrunkResult() async throws -> Crate { Crate(name: "x") }
    func keyed(_ item: Product) async throws -> Product { item }
    func paint(_ colour: Colour) async throws -> Int { 1 }
    func painted() async throws -> Colour { .blue }
    func light(_ lights: [Light]) async throws -> Int { lights.count }
    func lit() async throws -> [Light] { [.red, .green] }
    func shaped(_ shape: Shape) async throws -> Shape { .square }

    func failWithCase() async throws { throw StockFailure.locked }
    func failWithListed() async throws { throw EarlyFailure.closed }
    func failWithUnlisted() async throws { throw LateFailure.closed }
    func failWithRenamed() async throws { throw LaterFailure.closed }
}

private struct Places: Depot, Rack {
    func count() async throws -> Int { 1 }
}
