// What all objects of one service have in common, without its types: the methods, by name and by position.

import RPCSockets

/// There is one for each service. An exported object is an index and the object.
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

    init(
        _ service: _ServiceDescription, _ type: Any.Type, _ signatures: [MethodSignature], positions: [String: Int],
        clash: String?, makeMethod: @escaping @Sendable (Int) -> ExportedMethod?
    ) {
        (self.service, self.type, self.signatures, self.positions) = (service, type, signatures, positions)
        (self.clash, self.makeMethod) = (clash, makeMethod)
        wireNames = signatures.map(\.wireName)
        methods = Lock(Array(repeating: nil, count: signatures.count))
    }

    /// The method at a position, which is made on its first use and is the same for all objects.
    func method(at position: Int) -> ExportedMethod? {
        methods.withLock { methods in
            if let known = methods[position] { return known }
            methods[position] = makeMethod(position)
            return methods[position]
        }
    }
}
