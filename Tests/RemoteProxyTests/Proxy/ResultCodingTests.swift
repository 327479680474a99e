// A method whose result is not `Codable`: only the coding of the result knows how it travels.

import JSONCodec
import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

private protocol Book: Sendable { var title: String { get } }

private struct PaperBook: Book { let title: String }

private protocol Library: Sendable { func find(_ title: String) async throws -> any Book }

private struct TownLibrary: Library {
    func find(_ title: String) -> any Book { PaperBook(title: title) }
}

private struct LibraryProxy: Library, ServiceProxy {
    struct MethodName: ServiceMethodName { let name: String }

    static let findMethod = Method<any Library, String, any Book>(
        "find", of: _ServiceDescription("Library"), parameters: ["title": "String"], result: "any Book",
        effect: .readOnly,
        coding: _ArgumentCoding(read: { try $0.next() }, write: { try $1.write($0) }),
        results: _ResultCoding(
            read: { PaperBook(title: try decodeJSON(String.self, from: $0, in: $1)) },
            write: { try $1.encode($0.title, in: $2) })
    ) { try await $0.find($1) }
    static let _methodTable = _MethodTable<any Library>(_ServiceDescription("Library"), [findMethod])

    let proxySubject: any Subject<any Library>
    var asService: any Library { self }

    init(subject: any Subject<any Library>) { proxySubject = subject }

    func find(_ title: String) async throws -> any Book { try await Self.findMethod._call(proxySubject, title) }
}

struct ResultCodingTests {
    @Test func `a result that is not Codable passes all layers and the wire`() throws {
        let network = SimulatedNetwork()
        network.exports.add(LibraryProxy(TownLibrary()).locked(), named: nil)
        let (remote, loop) = (LibraryProxy(network.client()), network.loop)
        let proxies = [
            remote, remote.retrying(clock: loop, chance: { 1 }), remote.guarded(by: .readOnly, clock: loop),
            remote.cached(in: .memory, methods: nil, CachePolicy(), .manual(loop)), LibraryProxy(TownLibrary()),
            .failover([remote], clock: loop), remote.observed { _ in },
        ]
        for proxy in proxies {
            for _ in 1...2 { #expect(try network.loop.complete { try await proxy.find("Emma") }.title == "Emma") }
        }
    }
}
