// An object that other ends may call: the index of its service, and the object itself.

/// An exported object without its type. Made as an `Exported`, which has the type.
///
/// `@unchecked Sendable`: needs no lock, since all properties of it and of its subclass are constants.
class ExportedObject: @unchecked Sendable {
    let index: ServiceIndex
    /// Which object of its service; nil for the unnamed one.
    let name: String?
    /// Increases from one export to the next.
    let number: Int

    init(_ index: ServiceIndex, named name: String?, number: Int) {
        (self.index, self.name, self.number) = (index, name, number)
    }

    /// The wire name without a method.
    var path: String { MethodSignature.path(of: index.service.name, on: name) }

    /// Whether there is an object that has the method: behind a subject at the other end of a connection there may be none.
    func supports(_ method: MethodSignature) async throws -> Bool { true }

    /// Identifies the instance that calls go to; nil if there is none.
    var identity: ObjectIdentifier? { nil }

    /// Takes the object for one caller. Calls through the proxy are made under the hold, which ends when the proxy is gone.
    func held(for lease: Duration) async throws -> any ServiceProxy { throw RPCError.cannotBeHeld }

    /// Stands in for the object of the protocol's own methods, which belong to none.
    static let ofProtocol = ExportedObject(
        ServiceIndex(_ServiceDescription("rpc"), Never.self, [], positions: [:], clash: nil) { _ in nil }, named: nil,
        number: 0)
}

/// An exported object with its type.
///
/// `@unchecked Sendable`: as its superclass.
final class Exported<Service: Sendable>: ExportedObject, @unchecked Sendable {
    /// What posts go to: the object if it is in this process without layers, otherwise a proxy.
    let service: Service
    /// What calls go to; nil if they go to `service`.
    let chain: (any Subject<Service>)?

    init<Proxy: ServiceProxy<Service>>(_ proxy: Proxy, named name: String?, number: Int) {
        let subject = proxy.proxySubject
        if let local = subject as? LocalSubject<Service> {
            (service, chain) = (local.object, nil)
        } else {
            (service, chain) = (proxy.asService, subject)
        }
        super.init(Proxy._methodTable.index, named: name, number: number)
    }

    override func supports(_ method: MethodSignature) async throws -> Bool { try await chain?.supports(method) ?? true }

    override var identity: ObjectIdentifier? { (chain ?? LocalSubject(object: service)).identity }

    override func held(for lease: Duration) async throws -> any ServiceProxy {
        guard let chain, let proxy = service as? any ServiceProxy<Service> else { throw RPCError.cannotBeHeld }
        return under(try await chain.hold(for: lease), proxy)
    }

    private func under<Proxy: ServiceProxy<Service>>(_ hold: Hold, _ proxy: Proxy) -> any ServiceProxy {
        Proxy(subject: proxy.proxySubject.under(hold))
    }
}
