// Closures as services with one method, so that they are sent by reference like any other object.

/// What a closure of one type is called by. Only generated code conforms to it, once for each parameter that is a closure.
public protocol _ClosureShape: Sendable {
    /// `@Sendable (A) -> Void`, or `@Sendable (A) async throws -> B`.
    associatedtype Closure: Sendable

    /// The only method of the closure.
    static var _table: _MethodTable<Closure> { get }

    /// A closure that calls the one behind the subject.
    static func _closure(_ subject: any Subject<Closure>) -> Closure
}

/// The proxy of a closure. Used by generated code.
public struct _ClosureProxy<Shape: _ClosureShape>: ServiceProxy {
    /// The closure.
    public typealias ProxiedService = Shape.Closure

    /// Names of methods, of which there is one.
    public struct MethodName: ServiceMethodName {
        /// The name on the wire.
        public let name: String
        /// Any name.
        public init(name: String) { self.name = name }
    }

    /// What calls go to.
    public let proxySubject: any Subject<Shape.Closure>

    /// A closure behind any subject.
    public init(subject: any Subject<Shape.Closure>) { proxySubject = subject }

    /// A closure that calls the one behind the subject.
    public var asService: Shape.Closure { Shape._closure(proxySubject) }

    /// The only method of the closure.
    public static var _methodTable: _MethodTable<Shape.Closure> { Shape._table }
}
