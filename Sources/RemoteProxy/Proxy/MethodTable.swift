// The method table of one protocol: all that the server, discovery and local proxies know about it.

/// All methods of a service, in the order of declaration. Written by `@Service`.
public struct MethodTable<Service: Sendable>: Sendable {
    /// The service's name and declared errors.
    public let service: ServiceDescription
    let entries: [any ServiceMethod<Service>]
    /// The index of each method in `entries`, by its name.
    let positions: [String: Int]
    /// A name that several methods have; nil if there is none.
    let clash: String?

    /// Made by generated code.
    /// - Parameter bases: the methods of the services that this one refines. A method that the protocol declares itself, too, is
    ///   its own.
    public init(
        _ service: ServiceDescription, _ methods: [any ServiceMethod<Service>],
        inheriting bases: [InheritedMethods<Service>?] = []
    ) {
        self.service = service
        var (entries, positions, clash) = (methods, [String: Int](), String?.none)
        for (position, method) in methods.enumerated() { positions[method.signature.name] = position }
        for method in bases.flatMap({ $0?.methods(service.name) ?? [] }) {
            let name = method.signature.name
            if let known = positions[name] {
                if !method.signature.isDeclared(like: entries[known].signature) { clash = name }
            } else {
                positions[name] = entries.count
                entries.append(method)
            }
        }
        (self.entries, self.positions, self.clash) = (entries, positions, clash)
    }

    /// The names and shapes of all methods.
    public var signatures: [MethodSignature] { entries.map(\.signature) }
}

/// The methods of a service as those of another service that refines it. Opaque outside the library.
public struct InheritedMethods<Service: Sendable>: Sendable {
    /// The methods, under the name of the refining service.
    let methods: @Sendable (_ service: String) -> [any ServiceMethod<Service>]

    /// Made by generated code.
    public init<Base: ServiceProxy, Proxy: ServiceProxy<Service>>(
        of base: Base.Type, by proxy: Proxy.Type, _ upcast: @escaping @Sendable (Service) -> Base.ProxiedService
    ) {
        methods = { service in Base.methodTable.entries.map { $0._inherited(by: proxy, as: service, upcast) } }
    }
}

extension ServiceProxy {
    /// Chosen by generated code for an inherited protocol that is no service.
    @_disfavoredOverload
    public static func _inherit<Base>(
        _ base: Base.Type, _ upcast: (ProxiedService) -> Base
    ) -> InheritedMethods<ProxiedService>? { nil }
}

/// An entry of a method table: a `Method` or a `Post`. Do not conform other types to it.
public protocol ServiceMethod<Service>: Sendable {
    /// The service as an existential.
    associatedtype Service: Sendable
    /// The name, the parameters and the shape.
    var signature: MethodSignature { get }
    /// Makes what the dispatcher calls when a message names this method.
    func _export(_ proxy: some ServiceProxy<Service>) -> _ExportedMethod
    /// Makes the same method of a service that refines this one.
    func _inherited<Proxy: ServiceProxy>(
        by proxy: Proxy.Type, as service: String, _ upcast: @escaping @Sendable (Proxy.ProxiedService) -> Service
    ) -> any ServiceMethod<Proxy.ProxiedService>
}

// MARK: naming an inherited method

extension ServiceProxy {
    /// The method of a service that this one refines, as a method of this service: for `Policy.arguments(of:)` and `updates(of:)`.
    /// - Throws: `RPCError` with the code `.unimplemented` if this service does not inherit the method.
    public static func inherited<Base, Arguments, Result>(
        _ method: Method<Base, Arguments, Result>
    ) throws -> Method<ProxiedService, Arguments, Result> {
        try inherited(method.signature)
    }

    /// The post of a service that this one refines, as a post of this service.
    /// - Throws: `RPCError` with the code `.unimplemented` if this service does not inherit the post.
    public static func inherited<Base, Arguments>(
        _ post: Post<Base, Arguments>
    ) throws -> Post<ProxiedService, Arguments> {
        try inherited(post.signature)
    }

    private static func inherited<Entry>(_ signature: MethodSignature) throws -> Entry {
        let table = methodTable
        guard let position = table.positions[signature.name], table.clash != signature.name,
            let entry = table.entries[position] as? Entry
        else {
            throw RPCError(
                .unimplemented, "\(table.service.name) does not inherit \(signature.wireName)", outcome: .notExecuted)
        }
        return entry
    }
}
