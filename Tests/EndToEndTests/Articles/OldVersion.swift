// A service before the changes of the article "Changing a service", and a client that was built with it. `NewVersion` has the same
// names for what it is now.

import RPCSockets
import RemoteProxy

enum OldVersion {
    typealias Call = @Sendable (RPCClient) async throws -> Bool

    static func proxies() -> [any ServiceProxy] {
        [StockProxy(Shelves()), DepotProxy(Shelves()), BinProxy(Shelves())]
    }

    /// What the old client does, by the name of the change: a call that is right if nothing has changed.
    static let calls: [String: Call] = [
        "a method is added": { try await StockProxy($0).count() == 1 },
        "a method is removed": { try await StockProxy($0).dropped() == 1 },
        "a method gets another name": { try await StockProxy($0).formerName() == 1 },
        "a method gets an overload": { try await StockProxy($0).find(1) == 1 },
        "a label of an overload changes": { try await StockProxy($0).move(1, to: 2) == 2 },
        "a method without parameters becomes a property": { try await StockProxy($0).count() == 1 },
        "a call without a result becomes a post": {
            try await StockProxy($0).note("x")
            return try await StockProxy($0).notes() == ["x"]
        },
        "a mark is added or removed": { try await StockProxy($0).marked() == 1 },
        "the protocol gets another name": { try await DepotProxy($0).count() == 1 },
        "the protocol gets another name, and `@Service(name:)` keeps the former": {
            try await BinProxy($0).count() == 1
        },

        "a label or the name of a parameter changes": { try await StockProxy($0).take(amount: 7) == 7 },
        "an optional parameter is added at the end": { try await StockProxy($0).order(7) == 7 },
        "a parameter that is not optional is added": { try await StockProxy($0).ship(7) == 7 },
        "the last parameter is removed": { try await StockProxy($0).send(7, 1) == 7 },
        "the last parameter is removed, and was optional": { try await StockProxy($0).pack(7, nil) == 7 },
        "two parameters of one type change places": { try await StockProxy($0).swap(1, 2) == 1 },
        "a parameter's type changes from `Int` to `Double`": { try await StockProxy($0).weigh(7) == 7 },
        "a parameter becomes optional": { try await StockProxy($0).label(7) == 7 },
        "a parameter's type changes from `Int` to `String`": { try await StockProxy($0).code(7) == 7 },

        "a result is added": {
            try await StockProxy($0).clear()
            return true
        },
        "a result is removed": { try await StockProxy($0).reset() == 1 },
        "a result becomes optional, and is nil": { try await StockProxy($0).first() == 1 },
        "a result becomes optional, and is not nil": { try await StockProxy($0).last() == 1 },
        "a result's type changes from `Int` to `String`": { try await StockProxy($0).price() == 1 },

        "a struct or an enum gets another name": { try await StockProxy($0).named(Item(name: "x")).name == "x" },
        "an optional field is added or removed": {
            let answer = try await StockProxy($0).optional(Pair(kept: 1, removed: 2))
            return answer.kept == 1 && answer.removed == nil
        },
        "a field is added to an argument": { try await StockProxy($0).grown(Item(name: "x")) == 1 },
        "a field is added to a result": { try await StockProxy($0).grownResult().name == "x" },
        "a field is removed from an argument": { try await StockProxy($0).shrunk(Crate(name: "x", size: 1)) == 1 },
        "a field is removed from a result": { try await StockProxy($0).shrunkResult().size == 1 },
        "a field gets another name, and `CodingKeys` keep the former": {
            try await StockProxy($0).keyed(Item(name: "x")).name == "x"
        },
        "a case is added to an enum, and is an argument": { try await StockProxy($0).paint(.red) == 1 },
        "a case is added to an enum, and is a result": { try await StockProxy($0).painted() == .red },
        "a case is added to an `UnknownCaseRepresentable` enum, and is an argument": {
            try await StockProxy($0).light([.red]) == 1
        },
        "a case is added to an `UnknownCaseRepresentable` enum, and is a result": {
            try await StockProxy($0).lit() == [.red, .unknown]
        },
        "a value is added to a struct of raw values": { try await StockProxy($0).shaped(.round).rawValue == "square" },

        "a listed error gets a case, and is thrown with it": {
            try await caught { try await StockProxy($0).failWithCase() }($0)
        },
        "an error's type is listed": { try await caught { try await StockProxy($0).failWithListed() }($0) },
        "an error's type is no longer listed": { try await caught { try await StockProxy($0).failWithUnlisted() }($0) },
        "a listed error's type gets another name": {
            try await caught { try await StockProxy($0).failWithRenamed() }($0)
        },
    ]

    private static func caught(_ call: @escaping @Sendable (RPCClient) async throws -> Void) -> Call {
        { client in
            do { try await call(client) } catch is StockFailure { return true } catch is LateFailure {
                return true
            } catch is FormerFailure { return true }
            return false
        }
    }
}

private struct Item: Codable, Sendable {
    var name: String
}

private struct Crate: Codable, Sendable {
    var name: String
    var size: Int
}

private struct Pair: Codable, Sendable {
    var kept: Int
    var removed: Int?
}

private enum Colour: String, Codable, Sendable {
    case red
}

private enum Light: String, Codable, Sendable, UnknownCaseRepresentable {
    case red, unknown
    static let unknownCase = Light.unknown
}

private struct Shape: RawRepresentable, Codable, Sendable {
    var rawValue: String
    static let round = Shape(rawValue: "round")
}

private enum StockFailure: Error, Codable, Sendable {
    case empty
}

/// Not listed yet.
private enum EarlyFailure: Error {
    case closed
}

/// No longer listed later.
private enum LateFailure: Error, Codable, Sendable {
    case closed
}

private enum FormerFailure: Error, Codable, Sendable {
    case closed
}

@Service(errors: StockFailure.self, LateFailure.self, FormerFailure.self)
private protocol Stock: Sendable {
    func count() async throws -> Int
    func dropped() async throws -> Int
    func formerName() async throws -> Int
    func find(_ number: Int) async throws -> Int
    func move(_ from: Int, to: Int) async throws -> Int
    func move(_ from: Int) async throws -> Int
    func note(_ text: String) async throws
    func notes() async throws -> [String]
    func marked() async throws -> Int

    func take(amount: Int) async throws -> Int
    func order(_ count: Int) async throws -> Int
    func ship(_ count: Int) async throws -> Int
    func send(_ count: Int, _ place: Int) async throws -> Int
    func pack(_ count: Int, _ place: Int?) async throws -> Int
    func swap(_ one: Int, _ other: Int) async throws -> Int
    func weigh(_ weight: Int) async throws -> Int
    func label(_ number: Int) async throws -> Int
    func code(_ number: Int) async throws -> Int

    func clear() async throws
    func reset() async throws -> Int
    func first() async throws -> Int
    func last() async throws -> Int
    func price() async throws -> Int

    func named(_ item: Item) async throws -> Item
    func optional(_ pair: Pair) async throws -> Pair
    func grown(_ item: Item) async throws -> Int
    func grownResult() async throws -> Item
    func shrunk(_ crate: Crate) async throws -> Int
    func shrunkResult() async throws -> Crate
    func keyed(_ item: Item) async throws -> Item
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

@Service
private protocol Depot: Sendable {
    func count() async throws -> Int
}

@Service
private protocol Bin: Sendable {
    func count() async throws -> Int
}

private struct Shelves: Stock, Depot, Bin {
    let written = Lock<[String]>([])

    func count() async throws -> Int { 1 }
    func dropped() async throws -> Int { 1 }
    func formerName() async throws -> Int { 1 }
    func find(_ number: Int) async throws -> Int { number }
    func move(_ from: Int, to: Int) async throws -> Int { to }
    func move(_ from: Int) async throws -> Int { from }
    func note(_ text: String) async throws { written.withLock { $0.append(text) } }
    func notes() async throws -> [String] { written.withLock { $0 } }
    func marked() async throws -> Int { 1 }

    func take(amount: Int) async throws -> Int { amount }
    func order(_ count: Int) async throws -> Int { count }
    func ship(_ count: Int) async throws -> Int { count }
    func send(_ count: Int, _ place: Int) async throws -> Int { count }
    func pack(_ count: Int, _ place: Int?) async throws -> Int { place == nil ? count : 0 }
    func swap(_ one: Int, _ other: Int) async throws -> Int { one }
    func weigh(_ weight: Int) async throws -> Int { weight }
    func label(_ number: Int) async throws -> Int { number }
    func code(_ number: Int) async throws -> Int { number }

    func clear() async throws {}
    func reset() async throws -> Int { 1 }
    func first() async throws -> Int { 1 }
    func last() async throws -> Int { 1 }
    func price() async throws -> Int { 1 }

    func named(_ item: Item) async throws -> Item { item }
    func optional(_ pair: Pair) async throws -> Pair { pair }
    func grown(_ item: Item) async throws -> Int { 1 }
    func grownResult() async throws -> Item { Item(name: "x") }
    func shrunk(_ crate: Crate) async throws -> Int { 1 }
    func shrunkResult() async throws -> Crate { Crate(name: "x", size: 1) }
    func keyed(_ item: Item) async throws -> Item { item }
    func paint(_ colour: Colour) async throws -> Int { 1 }
    func painted() async throws -> Colour { .red }
    func light(_ lights: [Light]) async throws -> Int { lights == [.red, .unknown] ? lights.count : 0 }
    func lit() async throws -> [Light] { [.red] }
    func shaped(_ shape: Shape) async throws -> Shape { shape }

    func failWithCase() async throws { throw StockFailure.empty }
    func failWithListed() async throws { throw EarlyFailure.closed }
    func failWithUnlisted() async throws { throw LateFailure.closed }
    func failWithRenamed() async throws { throw FormerFailure.closed }
}
