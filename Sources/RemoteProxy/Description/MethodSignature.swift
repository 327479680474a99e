// The part of a method table that has no types in it: what a method is called, and what it looks like.

import JSONCodec
import RPCWire

/// The name, the parameters, the shape and the effect of one requirement of a service.
public struct MethodSignature: Sendable, Hashable {
    /// How a requirement travels. There may be more shapes later.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Shape: String, Sendable, Hashable {
        /// A request with one reply.
        case call
        /// One way: a notification.
        case post
    }

    /// What running the method does, as its marks say. There may be more effects later.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Effect: String, Sendable, Hashable {
        /// `@ReadOnly`: changes nothing that a caller could see.
        case readOnly
        /// `@Idempotent`: running it twice is the same as once.
        case idempotent
        /// No mark: running it twice may do something twice.
        case changes
    }

    /// One parameter as it is named on the wire.
    public struct Parameter: Sendable, Hashable {
        /// The name that the implementation uses, without back-ticks.
        public let name: String
        /// The Swift type as the protocol spells it.
        public let type: String

        init(_ name: String, _ type: String) {
            self.name = name
            self.type = type
        }
    }

    private struct Facts: Sendable, Hashable {
        let service: String
        let name: String
        let parameters: [Parameter]
        let result: String?
        let shape: Shape
        let effect: Effect
    }

    private final class Shared: Sendable {
        let facts: Facts
        /// The beginning of a request for the method, when no object is named.
        let opening: String
        /// Where the name of an object stands in it, in bytes.
        let placeOfObject: Int

        init(_ facts: Facts) {
            self.facts = facts
            opening = MessageWriter.opening(of: "\(facts.service).\(facts.name)")
            // Behind the service, whose name needs no escapes.
            placeOfObject =
                MessageWriter.opening(of: "").utf8.count - #"","params":"#.utf8.count + facts.service.utf8.count
        }
    }

    /// Shared by all copies, because policies and observers get a copy with each call.
    private let shared: Shared

    init(
        service: String, name: String, parameters: [Parameter], result: String?, shape: Shape, effect: Effect
    ) {
        shared = Shared(
            Facts(
                service: service, name: name, parameters: parameters, result: result, shape: shape, effect: effect))
    }

    /// Whether all parts are the same.
    public static func == (one: MethodSignature, other: MethodSignature) -> Bool {
        one.shared === other.shared || one.shared.facts == other.shared.facts
    }

    /// Hashes all parts.
    public func hash(into hasher: inout Hasher) { hasher.combine(shared.facts) }

    /// The service's name on the wire: the protocol's, or the one given by `@Service(name:)`.
    public var service: String { shared.facts.service }
    /// The method's name; for overloads the full Swift name with its labels.
    public var name: String { shared.facts.name }
    /// The parameters, in the order of declaration.
    public var parameters: [Parameter] { shared.facts.parameters }
    /// The Swift type of the result as the protocol spells it, or nil when there is none.
    public var result: String? { shared.facts.result }
    /// How the requirement travels.
    public var shape: Shape { shared.facts.shape }
    /// What running the method does.
    public var effect: Effect { shared.facts.effect }

    /// The same method of another service.
    func of(_ service: String) -> MethodSignature {
        MethodSignature(
            service: service, name: name, parameters: parameters, result: result, shape: shape, effect: effect)
    }

    /// Whether both can be declarations of one requirement: name, shape, parameters and result are spelled the same. The service
    /// and the effect may differ.
    func isDeclared(like other: MethodSignature) -> Bool {
        name == other.name && shape == other.shape && parameters == other.parameters && result == other.result
    }

    /// What the method is called on the wire when no object is named: `Service.method`.
    public var wireName: String { wireName(on: nil) }

    /// The name on the wire: `Service[object].method` for one of several objects.
    func wireName(on object: String?) -> String {
        // A method of the wire protocol, such as `rpc.hold`, belongs to no service.
        service.isEmpty ? name : "\(Self.path(of: service, on: object)).\(name)"
    }

    /// The name on the wire without the method.
    static func path(of service: String, on object: String?) -> String { object.map { "\(service)[\($0)]" } ?? service }

    var opening: String { shared.opening }

    /// Writes the beginning of a request for the method of an object by reference: `Book[#5].title`.
    func open(handle: Int64, in output: JSONOutput) {
        var opening = shared.opening
        opening.withUTF8 { bytes in
            let text = UnsafeRawBufferPointer(bytes)
            let place = shared.placeOfObject
            output.append(UnsafeRawBufferPointer(rebasing: text[..<place]))
            output.append("[#")
            output.append(handle)
            output.append("]")
            output.append(UnsafeRawBufferPointer(rebasing: text[place...]))
        }
    }

    /// Whether the method may run a second time when it may have run already, because it is `@ReadOnly` or `@Idempotent`.
    public var isRepeatable: Bool { effect != .changes }
}

extension MethodSignature {
    /// The signature that policies and observers see when a subject of the service is held.
    static func hold(of service: String) -> MethodSignature {
        MethodSignature(
            service: service, name: "rpc.hold", parameters: [], result: nil, shape: .call, effect: .changes)
    }
}

extension MethodSignature: CustomStringConvertible {
    /// A text like a declaration: `Calculator.add(a: Int, b: Int) -> Int`.
    public var description: String {
        let list = parameters.map { "\($0.name): \($0.type)" }.joined(separator: ", ")
        return "\(wireName)(\(list))\(result.map { " -> \($0)" } ?? "")"
    }
}
