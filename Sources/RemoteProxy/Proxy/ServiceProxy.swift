// What every generated proxy is: a method table plus a subject.

/// A generated proxy: it conforms to its service's protocol and forwards every call to its subject.
public protocol ServiceProxy<ProxiedService>: Sendable {
    /// The service as an existential: `any Greeter`.
    associatedtype ProxiedService: Sendable

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
    /// A proxy for an object that is here. Calls go straight to it; nothing is encoded.
    public init(_ object: ProxiedService) {
        self.init(subject: LocalSubject(object: object))
    }
}
