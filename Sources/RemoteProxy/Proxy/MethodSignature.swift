// What a method is called and what it looks like: the part of the method table that has no types in it.

/// The name, the parameters, the shape and the effect of one requirement of a service.
public struct MethodSignature: Sendable, Hashable {
    /// How a requirement travels.
    public enum Shape: String, Sendable, Hashable {
        /// A request with one reply.
        case call
        /// One way: a notification.
        case post
    }

    /// What running the method does, as its marks say.
    public enum Effect: String, Sendable, Hashable {
        /// `@ReadOnly`: changes nothing that a caller could see.
        case reads
        /// `@Idempotent`: running it twice is the same as once.
        case idempotent
        /// No mark: running it twice may do something twice.
        case changes
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
    /// What running it does.
    public let effect: Effect

    /// What the method is called on the wire when no object is named: `Service.method`.
    public var wireName: String { "\(service).\(name)" }

    /// Whether the method may run a second time where nobody knows whether it ran: it is `@ReadOnly` or `@Idempotent`.
    public var isRepeatable: Bool { effect != .changes }
}
