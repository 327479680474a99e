// The method table of one protocol: all that the server, discovery and local proxies know about it.

/// All methods of a service, in the order of declaration. Written by `@Service`.
public struct MethodTable<Service: Sendable>: Sendable {
    /// The service's name and declared errors.
    public let service: ServiceDescription
    let entries: [any ServiceMethod<Service>]
    /// The index of each method in `entries`, by its name.
    let positions: [String: Int]

    /// Made by generated code.
    public init(_ service: ServiceDescription, _ methods: [any ServiceMethod<Service>]) {
        self.service = service
        entries = methods
        let names = methods.enumerated().map { ($1.signature.name, $0) }
        positions = Dictionary(names, uniquingKeysWith: { first, _ in first })
    }

    /// The names and shapes of all methods.
    public var signatures: [MethodSignature] { entries.map(\.signature) }
}

/// An entry of a method table: a `Method` or a `Post`. Do not conform other types to it.
public protocol ServiceMethod<Service>: Sendable {
    /// The service as an existential.
    associatedtype Service: Sendable
    /// The name, the parameters and the shape.
    var signature: MethodSignature { get }
    /// Makes what the dispatcher calls when a message names this method.
    func _export(_ proxy: some ServiceProxy<Service>) -> _ExportedMethod
}
