// Listed errors across the wire: a type is never taken for another one, and ends of the first release understand as much
// as before.

import JSONCodec
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

private enum Login { enum Failure: Error, Codable, Hashable { case denied } }
private enum Payment { enum Failure: Error, Codable, Hashable { case denied } }
private enum Lonely: Error, Codable, Hashable { case denied }

@Service(errors: Login.Failure.self, Payment.Failure.self)
private protocol Shop: Sendable {
    func login() async throws
    func pay() async throws
}

private struct ClosedShop: Shop {
    func login() async throws { throw Login.Failure.denied }
    func pay() async throws { throw Payment.Failure.denied }
}

@Suite struct `Declared errors` {
    private let both = _ServiceDescription(
        "Shop", errors: ["Login.Failure": Login.Failure.self, "Payment.Failure": Payment.Failure.self])
    private let payment = _ServiceDescription("Shop", errors: ["Payment.Failure": Payment.Failure.self])

    /// Row C22 of "What became of my call".
    @Test func `of two types with the same name each arrives as itself`() throws {
        let network = SimulatedNetwork()
        network.exports.add(ShopProxy(ClosedShop()), named: nil)
        let shop = ShopProxy(network.client())
        #expect(throws: Login.Failure.denied) { try network.loop.complete { try await shop.login() } }
        #expect(throws: Payment.Failure.denied) { try network.loop.complete { try await shop.pay() } }
    }

    @Test func `a type has its spelling on the wire where its name alone is not enough`() {
        #expect(
            sent(Payment.Failure.denied, by: both)?.data?.description
                == #"{"type":"Payment.Failure","spelling":"Payment.Failure","error":{"denied":{}}}"#)
        #expect(sent(Payment.Failure.denied, by: both)?.message == "Payment.Failure.denied")
    }

    /// The first release knows nothing but the unqualified name in `type`.
    @Test func `the first release finds the name that it knows wherever that means one type`() {
        #expect(
            sent(Payment.Failure.denied, by: payment)?.data?.description
                == #"{"type":"Failure","spelling":"Payment.Failure","error":{"denied":{}}}"#)
        let unqualified = _ServiceDescription("Shop", errors: ["Lonely": Lonely.self])
        let data = sent(Lonely.denied, by: unqualified)?.data?.description
        #expect(data == #"{"type":"Lonely","error":{"denied":{}}}"#)
        #expect(sent(Lonely.denied, by: _ServiceDescription("Shop", errors: [Lonely.self]))?.data?.description == data)
    }

    @Test func `the name that the first release sends is understood where it means one type`() {
        let data = #"{"type":"Failure","error":{"denied":{}}}"#
        #expect(received(data, by: payment) as? Payment.Failure == .denied)
        #expect((received(data, by: both) as? RPCError)?.code == .unlistedError)
    }

    @Test func `a spelling that is not listed means no other type of that name`() {
        let data = #"{"type":"Failure","spelling":"Login.Failure","error":{"denied":{}}}"#
        #expect((received(data, by: payment) as? RPCError)?.code == .unlistedError)
        #expect(received(data, by: both) as? Login.Failure == .denied)
    }

    @Test func `one end may spell a type with its module, and the other without`() {
        func service(_ errors: KeyValuePairs<String, any (Error & Codable & Sendable).Type>) -> _ServiceDescription {
            _ServiceDescription("Shop", errors: errors)
        }
        let (short, long) = (service(["Lonely": Lonely.self]), service(["Module.Lonely": Lonely.self]))
        for (server, client) in [(long, short), (short, long), (service(["A.Module.Lonely": Lonely.self]), long)] {
            let data = sent(Lonely.denied, by: server)?.data?.description ?? ""
            #expect(received(data, by: client) as? Lonely == .denied, "\(data)")
        }
        // Several types of that name could be meant.
        let data = #"{"type":"Failure","spelling":"Module.Failure","error":{"denied":{}}}"#
        #expect((received(data, by: both) as? RPCError)?.code == .unlistedError)
        let several = #"{"type":"Module.Failure","spelling":"Module.Failure","error":{"denied":{}}}"#
        let one = service(["Failure": Payment.Failure.self])
        #expect((received(several, by: one) as? RPCError)?.code == .unlistedError)
        #expect(received(data, by: one) as? Payment.Failure == .denied)
    }

    @Test func `a type may be listed under two names`() {
        let twice = _ServiceDescription(
            "Shop", errors: ["Payment.Failure": Payment.Failure.self, "F": Payment.Failure.self])
        let data = sent(Payment.Failure.denied, by: twice)?.data?.description
        #expect(data == #"{"type":"Failure","spelling":"Payment.Failure","error":{"denied":{}}}"#)
        #expect(received(data ?? "", by: twice) as? Payment.Failure == .denied)
    }

    @Test func `of types without a spelling none is taken for another`() {
        let plain = _ServiceDescription("Shop", errors: [Login.Failure.self, Payment.Failure.self])
        let data = sent(Payment.Failure.denied, by: plain)?.data?.description ?? ""
        #expect((received(data, by: plain) as? RPCError)?.code == .unlistedError)
    }

    private func sent(_ error: any Error, by service: _ServiceDescription) -> ErrorObject? {
        service.errorObject(from: error, .executed, thrownBy: "Shop.pay", log: { _ in })
    }

    private func received(_ data: String, by service: _ServiceDescription) -> any Error {
        service.error(from: ErrorObject(code: 1, message: "denied", data: Bytes(data)))
    }
}
