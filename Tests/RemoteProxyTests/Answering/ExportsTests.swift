// What stands beside what among the exports of one end, and what takes the place of what.

import JSONCodec
import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Service
private protocol Till: Sendable {
    func count() async throws -> Int
    func count(from start: Int) async throws -> Int
}

/// Another program's idea of the same name.
@Service(name: "Till")
private protocol OtherTill: Sendable {
    func open() async throws -> Int
    func count() async throws -> Int
}

@Service(name: "bank.Till")
private protocol BankTill: Sendable {
    func count() async throws -> Int
    func count(from start: Int) async throws -> Int
    func add(_ coins: Int)
}

private struct FullTill: Till, OtherTill {
    var coins: Int
    func count() async throws -> Int { coins }
    func count(from start: Int) async throws -> Int { start + coins }
    func open() async throws -> Int { coins }
}

private final class KeptTill: BankTill {
    private let coins = Lock(0)
    func count() async throws -> Int { coins.withLock { $0 } }
    func count(from start: Int) async throws -> Int { coins.withLock { start + $0 } }
    func add(_ coins: Int) { self.coins.withLock { $0 += coins } }
}

@Suite struct `Exported objects` {
    private let network = SimulatedNetwork()
    private var exports: Exports { network.exports }

    private func method(named name: String) -> ExportedMethod? {
        var name = name
        return name.withUTF8 { exports.method(named: WireName(UnsafeRawBufferPointer($0)))?.1 }
    }

    @Test func `a second protocol of the same name is refused, and nothing is mixed`() throws {
        #expect(exports.add(TillProxy(FullTill(coins: 1)), named: nil).refusal == nil)
        for name in [nil, "other"] {
            let refusal = try #require(exports.add(OtherTillProxy(FullTill(coins: 2)), named: name).refusal)
            #expect(refusal.contains("OtherTill") && refusal.contains("@Service(name:)"))
            #expect(exports.refusal?.contains("Till is not exported") == true)
        }
        #expect(names == ["Till.count()", "Till.count(from:)"])
        #expect(try count(TillProxy(network.client())) == 1)
        #expect(call { try await OtherTillProxy(network.client()).open() }?.code == .noSuchMethod)
    }

    @Test func `a second export of the same protocol takes the place of the first, and of no other`() throws {
        let till = TillProxy(network.client())
        for (coins, name) in [(1, nil), (2, "left"), (3, nil)] as [(Int, String?)] {
            #expect(exports.add(TillProxy(FullTill(coins: coins)), named: name).refusal == nil)
        }
        #expect(try count(till) == 3)
        #expect(try count(TillProxy(network.client(), named: "left")) == 2)
        #expect(names == ["Till[left].count()", "Till[left].count(from:)", "Till.count()", "Till.count(from:)"])
        #expect(exports.refusal == nil)
    }

    @Test func `a name may change hands when all of its objects are gone`() throws {
        let tills = [nil, "left"].map { exports.add(TillProxy(FullTill(coins: 1)), named: $0) }
        tills[0].cancel()
        let refused = exports.add(OtherTillProxy(FullTill(coins: 2)), named: nil)
        #expect(refused.refusal != nil)
        refused.cancel()
        #expect(names == ["Till[left].count()", "Till[left].count(from:)"])
        tills[1].cancel()
        #expect(exports.add(OtherTillProxy(FullTill(coins: 2)), named: nil).refusal == nil)
        #expect(names == ["Till.open", "Till.count"])
    }

    @Test(arguments: ["~1", "#1", "@1", "~"])
    func `a name that is reserved is refused`(name: String) throws {
        let refusal = try #require(exports.add(TillProxy(FullTill(coins: 1)), named: name).refusal)
        #expect(refusal.contains("Till[\(name)]") && refusal.contains("reserved"))
        #expect(names == [])
    }

    @Test func `a method is never hidden by one that another service spells in the same way`() {
        struct Dotted: ServiceProxy {
            typealias ProxiedService = any Till
            typealias MethodName = TillProxy.MethodName
            static let _methodTable = _MethodTable<any Till>(
                _ServiceDescription("bank"),
                [Method<any Till, Void, Int>("Till.add", of: _ServiceDescription("bank"), coding: .none) { _, _ in 0 }])
            let proxySubject: any Subject<any Till>
            var asService: any Till { TillProxy(subject: proxySubject) }
            init(subject: any Subject<any Till>) { proxySubject = subject }
        }
        exports.add(BankTillProxy(KeptTill()), named: nil)
        #expect(exports.add(Dotted(FullTill(coins: 1)), named: nil).refusal?.contains("bank.Till.add") == true)
    }

    @Test func `a service is called, posted to and asked for under the name it was given`() throws {
        for name in [nil, "a.b"] {
            exports.add(BankTillProxy(KeptTill()), named: name)
            let till = BankTillProxy(network.client(), named: name)
            till.add(2)
            #expect(try network.loop.complete { try await till.count() } == 2)
            #expect(try network.loop.complete { try await till.count(from: 5) } == 7)
            #expect(try network.loop.complete { try await till.supports(.`count(from:)`) })
        }
        #expect(names.prefix(3) == ["bank.Till.count()", "bank.Till.count(from:)", "bank.Till.add"])
        #expect(names.suffix(1) == ["bank.Till[a.b].add"])
    }

    /// Row C20 of "What became of my call".
    @Test(arguments: [
        ("bank.Till.take", "bank.Till has count(), count(from:), add"),
        ("bank.Till[x].add", "there is no object bank.Till[x]"),
        ("bank.take", "exported: bank.Till"),
    ])
    func `a wrong method of a service with dots in its name is answered with what there is`(name: String, hint: String)
    {
        exports.add(BankTillProxy(KeptTill()), named: nil)
        #expect(RPCError.unknown(Bytes(name), exports, isOwnEnd: false).message.contains(hint))
    }

    @Test func `what was taken back is not there, and what runs goes on`() throws {
        let probe = RecordingProbe(network.loop)
        let registration = exports.add(ProbeProxy(probe), named: "one")
        exports.add(ProbeProxy(probe), named: nil)
        let (proxy, loop) = (ProbeProxy(network.client(), named: "one"), network.loop)
        let running = Task(executorPreference: loop) { try await proxy.wait(1, milliseconds: 10) }
        loop.run()
        #expect(probe.executed == [1])
        for _ in 1...2 { registration.cancel() }
        let error = call { try await proxy.echo(2) }
        #expect(error?.code == .noSuchObject && error?.outcome == .notExecuted)
        #expect(try loop.complete { try await running.value } == 1)
        #expect(try loop.complete { try await ProbeProxy(network.client()).echo(3) } == 3)
        #expect(!names.contains { $0.hasPrefix("Probe[") } && names.contains("Probe.echo"))
    }

    @Test func `what was taken back is its holder's until the hold is over`() throws {
        let registration = exports.add(TillProxy(FullTill(coins: 1)).locked(clock: network.loop), named: nil)
        let till = TillProxy(network.client())
        let error = call {
            try await till.exclusively {
                registration.cancel()
                let coins = try await till.count()
                #expect(coins == 1)
            }
            return try await till.count()
        }
        #expect(error?.code == .noSuchObject)
    }

    @Test func `any of many objects can be taken back, and the others are found`() throws {
        let tills = (0..<500).map { exports.add(TillProxy(FullTill(coins: $0)), named: "\($0)") }
        for number in 0..<500 where number % 3 != 0 { tills[number].cancel() }
        for number in 0..<500 {
            let found = method(named: "Till[\(number)].count()")
            #expect((found != nil) == (number % 3 == 0))
        }
    }

    @Test(arguments: ["", "a", "[", "]", "a]b[c", "a.b", "[]", "ß", "].count()", "count()"])
    func `an object is found under any name that it may have`(name: String) throws {
        exports.add(TillProxy(FullTill(coins: 7)), named: name)
        exports.add(TillProxy(FullTill(coins: 8)), named: name + "x")
        #expect(try count(TillProxy(network.client(), named: name)) == 7)
        #expect(method(named: "Till.count()") == nil)
    }

    @Test func `brackets elsewhere in a wire name name no object`() {
        exports.add(TillProxy(FullTill(coins: 7)), named: "a")
        exports.add(BankTillProxy(KeptTill()), named: "a")
        #expect(method(named: "Till[a].count()") != nil && method(named: "bank.Till[a].count()") != nil)
        for name in [
            "Ti[a]ll.count()", "[a]Till.count()", "Till.count()[a]", "Till.[a]count()", "Till[a]count()",
            "bank[a].Till.count()",
            "Till]a[.count()", "Till[a.count()", "Till[a].", "[a].", "[a]", "",
        ] {
            #expect(method(named: name) == nil)
        }
    }

    /// What discovery lists, in its order.
    private var names: [String] {
        struct Document: Decodable {
            struct Method: Decodable { var name: String }
            var methods: [Method]
        }
        let document = exports.discovery.withUnsafeBytes { try? decodeJSON(Document.self, from: $0) }
        return document?.methods.map(\.name) ?? []
    }

    private func count(_ till: TillProxy) throws -> Int { try network.loop.complete { try await till.count() } }

    private func call(_ body: @escaping @Sendable () async throws -> Int) -> RPCError? {
        do {
            _ = try network.loop.complete(body)
            return nil
        } catch {
            return error as? RPCError
        }
    }
}
