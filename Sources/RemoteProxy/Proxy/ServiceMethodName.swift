// How code names a method without calling it. Generated, one type per service.

/// The name of a method of one service: what `GreeterProxy.MethodName.greet` is.
///
/// A type of its own for each service, so that a method is named with a leading dot and a misspelling does not compile.
public protocol ServiceMethodName: Sendable, Hashable {
    /// The name on the wire, without the service: `MethodSignature.name`.
    var name: String { get }

    /// Any name. One that the service does not have names nothing.
    init(name: String)
}
