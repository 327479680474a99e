// What every generated proxy is: a method table plus a subject.

/// A generated proxy: it conforms to its service's protocol and forwards every call to its subject.
public protocol ServiceProxy<ProxiedService>: Sendable {
    /// The service as an existential: `any Greeter`.
    associatedtype ProxiedService: Sendable

    /// The names of the service's methods, one static property each: `proxy.supports(.add)`.
    associatedtype MethodName: ServiceMethodName

    /// All methods of the service.
    static var methodTable: MethodTable<ProxiedService> { get }

    /// What this proxy forwards to.
    var proxySubject: any Subject<ProxiedService> { get }

    /// This proxy, seen as the service it stands for.
    var asService: ProxiedService { get }

    /// A proxy that forwards to the given subject, for instance one of your own.
    init(subject: any Subject<ProxiedService>)
}

extension ServiceProxy {
    /// A proxy for an object that is here. Calls go straight to it; nothing is encoded. An object that is itself a proxy
    /// of the service is not wrapped: the new proxy forwards to what that one forwards to.
    public init(_ object: ProxiedService) {
        self.init(subject: Self.subject(of: object))
    }
}
