// What a method is called and what it looks like: the part of the method table that has no types in it.

/// The name, the parameters and the shape of one requirement of a service.
public struct MethodSignature: Sendable, Hashable {
    /// How a requirement travels.
    public enum Shape: String, Sendable, Hashable {
        /// A request with one reply.
        case call
        /// One way: a notification.
        case post
    }

    /// One parameter as it is named on the wire.
    public struct Parameter: Sendable, Hashable {
        /// The name: the one the implementation sees, without back-ticks.
        public let name: String
        /// The Swift type as the protocol spells it.
        public let type: String

        /// Made by generated code.
        public init(_ name: String, _ type: String) {
            self.name = name
            self.type = type
        }
    }

    /// The protocol's name.
    public let service: String
    /// The method's name; for overloads the full Swift name with its labels.
    public let name: String
    /// In the order of declaration.
    public let parameters: [Parameter]
    /// The Swift type of the result as the protocol spells it, or nil when there is none.
    public let result: String?
    /// How it travels.
    public let shape: Shape

    /// What the method is called on the wire when no object is named: `Service.method`.
    public var wireName: String { "\(service).\(name)" }
}
