// An object that other ends may call: the index of its service, and the object itself.

/// An exported object without its type. Made as an `Exported`, which has the type.
///
/// `@unchecked Sendable`: needs no lock, since all properties of it and of its subclass are constants.
class ExportedObject: @unchecked Sendable {
    let index: ServiceIndex
    /// Increases from one export to the next. The handle of an object by reference.
    let number: Int

    init(_ index: ServiceIndex, number: Int) { (self.index, self.number) = (index, number) }

    /// Which object of its service; nil for the unnamed one, and for an object by reference.
    var name: String? { nil }

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
        ServiceIndex(_ServiceDescription("rpc"), Never.self, [], positions: [:], clash: nil) { _ in nil }, number: 0)
}

/// An exported object with its type. There may be very many that have neither a name nor layers, so only the subclass has those.
///
/// `@unchecked Sendable`: as its superclass.
class Exported<Service: Sendable>: ExportedObject, @unchecked Sendable {
    /// What posts go to: the object if it is in this process without layers, otherwise a proxy.
    final let service: Service
    /// What calls go to; nil if they go to `service`.
    var chain: (any Subject<Service>)? { nil }

    init(_ service: Service, _ index: ServiceIndex, number: Int) {
        self.service = service
        super.init(index, number: number)
    }

    static func object<Proxy: ServiceProxy<Service>>(
        _ proxy: Proxy, named name: String?, number: Int
    ) -> Exported<Service> {
        let (subject, index) = (proxy.proxySubject, Proxy._methodTable.index)
        let local = subject as? LocalSubject<Service>
        if let local, name == nil { return Exported(local.object, index, number: number) }
        return DistinctExport(
            local?.object ?? proxy.asService, local == nil ? subject : nil, index, named: name, number: number)
    }

    override func supports(_ method: MethodSignature) async throws -> Bool { try await chain?.supports(method) ?? true }

    override var identity: ObjectIdentifier? { (chain ?? LocalSubject(object: service)).identity }

    override func held(for lease: Duration) async throws -> any ServiceProxy {
        guard let chain, let proxy = service as? any ServiceProxy<Service> else { throw RPCError.cannotBeHeld }
        return under(try await chain.hold(for: lease), proxy)
    }

    private func under<Proxy: ServiceProxy<Service>>(_ hold: Hold, _ proxy: Proxy) -> any ServiceProxy {
        Proxy(subject: HeldSubject(proxy.proxySubject, by: hold))
    }
}

/// An exported object with a name or with layers.
///
/// `@unchecked Sendable`: as its superclass.
private final class DistinctExport<Service: Sendable>: Exported<Service>, @unchecked Sendable {
    private let given: String?
    private let layers: (any Subject<Service>)?

    init(
        _ service: Service, _ layers: (any Subject<Service>)?, _ index: ServiceIndex, named name: String?, number: Int
    ) {
        (given, self.layers) = (name, layers)
        super.init(service, index, number: number)
    }

    override var name: String? { given }
    override var chain: (any Subject<Service>)? { layers }
}
