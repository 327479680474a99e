// What every generated proxy is: a method table and a subject.

/// A generated proxy: it conforms to its service's protocol and forwards every call to its subject.
public protocol ServiceProxy<ProxiedService>: Sendable, CustomReflectable {
    /// The service as an existential: `any Greeter`.
    associatedtype ProxiedService: Sendable

    /// The names of the service's methods, each a static property: `proxy.supports(.add)`.
    associatedtype MethodName: ServiceMethodName

    /// All methods of the service.
    static var _methodTable: _MethodTable<ProxiedService> { get }

    /// The subject to which this proxy forwards its calls.
    var proxySubject: any Subject<ProxiedService> { get }

    /// This proxy, seen as the service it stands for.
    var asService: ProxiedService { get }

    /// A proxy that forwards to the given subject, for instance one of your own.
    init(subject: any Subject<ProxiedService>)
}

extension ServiceProxy {
    /// Shows nothing but the type: what is behind a proxy belongs to other threads, or to another process.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// A proxy for an object in this process. Calls go straight to it; nothing is encoded. An object that is itself a proxy of
    /// the service is not wrapped: the new proxy forwards to that proxy's subject.
    public init(_ object: ProxiedService) {
        self.init(subject: Self.subject(of: object))
    }

    /// Whether the object has a method. An object at the other end of a connection may have been built before the protocol
    /// gained the method. A call then throws `RPCError` with the code `.noSuchMethod` and the outcome `.notExecuted`.
    ///
    /// ```swift
    /// if try await feed.supports(.loadPage) { … } else { … }
    /// ```
    ///
    /// True at once for an object in this process. A client asks once for each connection.
    /// - Throws: `RPCError` when the other end could not be asked. The code is `.noSuchMethod` when the other end, a program
    ///   not made with this library, has no `rpc.supports`. Waits and ends like a call.
    public func supports(_ method: MethodName) async throws -> Bool {
        guard let entry = Self._methodTable.entries.first(where: { $0.signature.name == method.name }) else {
            return false
        }
        do { return try await proxySubject.supports(entry.signature) } catch { throw error.thrownByProxy }
    }

    /// The subject of an object that is itself a proxy, so that its layers are found and nothing is forwarded twice. Otherwise
    /// the object as a subject.
    static func subject(of object: ProxiedService) -> any Subject<ProxiedService> {
        subject(ofProxy: object) ?? LocalSubject(object: object)
    }

    /// The subject of an object that is itself a proxy; nil for any other object.
    static func subject(ofProxy object: ProxiedService) -> (any Subject<ProxiedService>)? {
        // Asked of its type, because a cast of the object takes far longer, and most objects are no proxies.
        let kind = type(of: object as Any)
        if kind == Self.self { return (object as? Self)?.proxySubject }
        guard kind is any ServiceProxy.Type else { return nil }
        return (object as? any ServiceProxy<ProxiedService>)?.proxySubject
    }
}

/// The name of a method of one service, such as `GreeterProxy.MethodName.greet`.
///
/// Each service has a type of its own, so that a leading dot names a method and a misspelling does not compile.
public protocol ServiceMethodName: Sendable, Hashable {
    /// The name on the wire, without the service: `MethodSignature.name`.
    var name: String { get }

    /// Any name. A name that the service does not have names no method.
    init(name: String)
}

extension ServiceMethodName {
    // Declared here, so that the compiler does not synthesise both for each service.

    /// Whether both have the same name.
    public static func == (one: Self, other: Self) -> Bool { one.name == other.name }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The name of a method of a service that this one refines: `.inherited(ScrollDelegateProxy.MethodName.scrolled)`.
    public static func inherited(_ method: some ServiceMethodName) -> Self { Self(name: method.name) }
}
