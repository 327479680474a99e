// An exported object as other ends find it: its service, how it is held, and its methods. Each method is made on first use.

import RPCSockets

final class ExportedObject: Sendable {
    /// The service's name on the wire.
    let service: String
    /// The service as a type: `any Greeter`.
    let type: Any.Type
    /// The object's name; nil for the unnamed object of its service.
    let name: String?
    let signatures: [MethodSignature]
    /// As `_MethodTable.clash`.
    let clash: String?
    /// Takes the object for one caller.
    let hold: @Sendable (Duration) async throws -> Hold
    private let position: @Sendable (_ method: String) -> Int?
    private let makeMethod: @Sendable (Int) -> ExportedMethod?
    private let methods: Lock<[Int: ExportedMethod]> = Lock([:])

    /// Makes the object without its methods, so the cost does not depend on their number.
    init<Proxy: ServiceProxy>(_ proxy: Proxy, named name: String?) {
        let table = Proxy._methodTable
        let subject = proxy.proxySubject
        self.name = name
        service = table.service.name
        type = Proxy.ProxiedService.self
        signatures = table.signatures
        clash = table.clash
        hold = { try await subject.hold(for: $0) }
        position = { table.positions[$0] }
        makeMethod = { table.entries[$0].exported(for: proxy) }
    }

    /// The wire name without a method.
    var path: String { MethodSignature.path(of: service, on: name) }

    /// The method of that name, which is the same object each time; nil if there is none.
    func method(named name: String) -> ExportedMethod? {
        guard let position = position(name) else { return nil }
        return methods.withLock { methods in
            if let known = methods[position] { return known }
            guard let method = makeMethod(position) else { return nil }
            methods[position] = method
            return method
        }
    }
}
