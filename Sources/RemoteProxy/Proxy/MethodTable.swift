// The method table of one protocol: all that the server, discovery and local proxies know about it, with its types and without.

import RPCSockets

/// All methods of a service, in the order of declaration. Written by `@Service`.
public struct _MethodTable<Service: Sendable>: Sendable {
    let entries: [_ServiceMethod<Service>]
    /// The same methods without their types.
    let index: ServiceIndex
    /// Makes the subject that refers weakly to an instance of a class; nil for any other value.
    let weakSubject: @Sendable (Any) -> (any Subject<Service>)?

    /// Made by generated code.
    /// - Parameter bases: the methods of the services that this one refines. A method that the protocol declares itself, too, is
    ///   its own.
    /// - Parameter weakSubject: makes the subject of a weak proxy for an instance of a class. Only generated code can name such an
    ///   instance by its protocol. Nil for any other value, and in the table of a closure.
    public init(
        _ service: _ServiceDescription, _ methods: [_ServiceMethod<Service>],
        inheriting bases: [_InheritedMethods<Service>?] = [],
        weakSubject: @escaping @Sendable (Any) -> (any Subject<Service>)? = { _ in nil }
    ) {
        self.weakSubject = weakSubject
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
        self.entries = entries
        index = ServiceIndex(service, Service.self, entries.map(\.signature), positions: positions, clash: clash) {
            [entries] in entries[$0].exported()
        }
    }

    /// The service's name and declared errors.
    public var service: _ServiceDescription { index.service }
    /// The names and shapes of all methods.
    public var signatures: [MethodSignature] { index.signatures }
}

/// What all objects of one service have in common, without its types. There is one for each service: an exported object is an index
/// and the object.
final class ServiceIndex: Sendable {
    let service: _ServiceDescription
    /// The service as a type: `any Greeter`.
    let type: Any.Type
    /// The names and shapes of all methods, in the order of their positions.
    let signatures: [MethodSignature]
    /// What each method is called on the wire when no object is named.
    let wireNames: [String]
    /// The position of each method, by its name without the service.
    let positions: [String: Int]
    /// A name that an inherited method and another method share although their declarations differ; nil if there is none.
    let clash: String?
    private let makeMethod: @Sendable (Int) -> ExportedMethod?
    private let methods: Lock<[ExportedMethod?]>
    /// The positions by the names on the wire.
    private let places: NameTable<Int>

    init(
        _ service: _ServiceDescription, _ type: Any.Type, _ signatures: [MethodSignature], positions: [String: Int],
        clash: String?, makeMethod: @escaping @Sendable (Int) -> ExportedMethod?
    ) {
        (self.service, self.type, self.signatures, self.positions) = (service, type, signatures, positions)
        (self.clash, self.makeMethod) = (clash, makeMethod)
        wireNames = signatures.map(\.wireName)
        var places = NameTable<Int>()
        for (position, name) in wireNames.enumerated() { places.add(position, named: name) }
        self.places = places
        methods = Lock(Array(repeating: nil, count: signatures.count))
    }

    /// The method of that wire name, without an object.
    func method(named name: NameParts) -> ExportedMethod? {
        places.value(name).flatMap { method(at: $0) }
    }

    /// The method of that name, without its service.
    func method(named name: String) -> ExportedMethod? { positions[name].flatMap { method(at: $0) } }

    /// The method at a position, which is made on its first use and is the same for all objects.
    func method(at position: Int) -> ExportedMethod? {
        methods.withLock { methods in
            if let known = methods[position] { return known }
            methods[position] = makeMethod(position)
            return methods[position]
        }
    }
}

/// The methods of a service as those of another service that refines it. Opaque outside the library.
public struct _InheritedMethods<Service: Sendable>: Sendable {
    /// The methods, under the name of the refining service.
    let methods: @Sendable (_ service: String) -> [_ServiceMethod<Service>]

    /// Made by generated code.
    public init<Base: ServiceProxy, Proxy: ServiceProxy<Service>>(
        of base: Base.Type, by proxy: Proxy.Type, _ upcast: @escaping @Sendable (Service) -> Base.ProxiedService
    ) {
        methods = { service in Base._methodTable.entries.compactMap { $0.inherited(by: proxy, as: service, upcast) } }
    }
}

extension ServiceProxy {
    /// The compiler chooses this one for an inherited protocol that is not a service.
    @_disfavoredOverload
    public static func _inherit<Base>(
        _ base: Base.Type, _ upcast: (ProxiedService) -> Base
    ) -> _InheritedMethods<ProxiedService>? { nil }
}

/// An entry of a method table: a `Method` or a `Post`.
///
/// A class, not a protocol, so that generated code needs no witness tables. Only its subclasses are made. `@unchecked Sendable`:
/// needs no lock, since all properties of it and of its subclasses are constants.
public class _ServiceMethod<Service: Sendable>: @unchecked Sendable {
    /// The name, the parameters and the shape.
    public let signature: MethodSignature
    private let declared: ObjectIdentifier?
    /// Identifies the declared method, also in a service that inherits it. Declared methods are never released.
    var declaration: ObjectIdentifier { declared ?? ObjectIdentifier(self) }

    /// - Parameter declared: identifies the method that this is another form of.
    init(_ signature: MethodSignature, declared: ObjectIdentifier?) {
        (self.signature, self.declared) = (signature, declared)
    }

    /// Whether its result is an object, which is there for as long as its session only.
    var returnsObjects: Bool { false }

    /// Makes what the dispatcher calls when a message names this method. Nil only here, where the types are not known.
    func exported() -> ExportedMethod? { nil }

    /// Makes the same method of a service that refines this one.
    func inherited<Proxy: ServiceProxy>(
        by proxy: Proxy.Type, as service: String, _ upcast: @escaping @Sendable (Proxy.ProxiedService) -> Service
    ) -> _ServiceMethod<Proxy.ProxiedService>? { nil }
}

// MARK: finding an inherited method

extension ServiceProxy {
    /// The method or post of a service that this one refines, as one of this service.
    /// - Throws: `RPCError` with the code `.noSuchMethod` if this service does not inherit it.
    static func inherited<Base, Entry>(_ method: _ServiceMethod<Base>) throws -> Entry {
        let (table, name) = (_methodTable, method.signature.name)
        // There may be another method of the same name and the same types.
        guard let position = table.index.positions[name], table.index.clash != name,
            table.entries[position].declaration == method.declaration,
            let entry = table.entries[position] as? Entry
        else {
            throw RPCError(
                .noSuchMethod, "\(table.service.name) does not inherit \(method.signature.wireName)",
                outcome: .notExecuted)
        }
        return entry
    }
}
